import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { apiKeyAuth } from '../../../src/server/auth/schemes/api-key.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { card1_0At, CliUser, wireTask1_0 } from '../../support/cli/client-command.ts';
import { repositoryRoot } from '../../support/cli/run-command.ts';
import { type Row, row } from './row.ts';

/** Credentials, transports, versions, configuration and help: tier 1. */
export const settings: readonly Row[] = [
  row(
    'AUTH_001',
    'sends bearer tokens and API keys as the card declares',
    async ({ fields, document, recording }) => {
      const token = await recording({
        auth: { authenticators: [bearerAuth({ tokens: { 't0ken-1': 'alice' } })] },
      });
      expect((await document(`send -a ${token.url} hi`, 4)).error).toMatchObject({
        code: 'A2ACLI_ERR_CREDENTIALS_MISSING',
        hint: expect.stringContaining('A2ACLI_BEARER'),
      });
      expect((await document(`send -a ${token.url} hi --bearer wr0ng`, 4)).error.code).toBe(
        'A2ACLI_ERR_AUTH_FAILED',
      );
      expect((await fields(`send -a ${token.url} hi --bearer t0ken-1`)).State).toBe('TASK_STATE_COMPLETED');
      for (const place of ['header', 'query', 'cookie'] as const) {
        const keyed = await recording({
          auth: { authenticators: [apiKeyAuth({ in: place, name: 'X-Key', keys: { 'k3y-1': 'alice' } })] },
        });
        for (const transport of ['JSONRPC', 'HTTP+JSON'])
          expect(
            (
              await fields(`send -a ${keyed.url} hi --transport ${transport}`, {
                env: { A2ACLI_API_KEY: 'k3y-1' },
              })
            ).State,
          ).toBe('TASK_STATE_COMPLETED');
      }
      const { url, requests } = await recording();
      await fields(`send -a ${url} hi --svc-param x-trace-id:abc123`);
      expect(requests[0]?.headers['x-trace-id']).toBe('abc123');
    },
  ),
  row(
    'AUTH_002',
    'reads secrets from the environment and recommends it in the help',
    async ({ run, fields, document, recording }) => {
      const token = await recording({
        auth: { authenticators: [bearerAuth({ tokens: { 't0ken-2': 'alice' } })] },
      });
      const env = { A2ACLI_BEARER: 't0ken-2' };
      expect((await fields(`send -a ${token.url} hi`, { env })).State).toBe('TASK_STATE_COMPLETED');
      expect((await document(`send -a ${token.url} hi --bearer other`, 4, { env })).error.code).toBe(
        'A2ACLI_ERR_AUTH_FAILED',
      );
      expect((await run('send --help')).stdout).toMatch(
        /A2ACLI_BEARER[^]*other processes and the shell history can see/,
      );
    },
  ),
  row('AUTH_003', 'warns about credentials with --insecure', async ({ run, document, tlsAgent }) => {
    const { url } = await tlsAgent();
    expect((await document(`card get -a ${url}`, 3)).error.code).toBe('A2ACLI_ERR_UNREACHABLE');
    const { code, stderr } = await run(`send -a ${url} hi --insecure --bearer t0ken-3`);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/warning: TLS certificates are not verified[^]*warning: CREDENTIALS ARE SENT/);
  }),
  row('AUTH_004', 'logs no secrets', async ({ run, recording }) => {
    for (const place of ['header', 'query', 'cookie'] as const) {
      const keyed = await recording({
        auth: { authenticators: [apiKeyAuth({ in: place, name: 'X-Key', keys: { 'k3y-secret': 'alice' } })] },
      });
      const { code, stdout, stderr } = await run(
        `send -a ${keyed.url} hi --debug --verbose --api-key k3y-secret --bearer b3arer-secret --svc-param x-own:0wn-secret`,
      );
      expect(code, stderr).toBe(0);
      expect(stderr).toMatch(/> POST http[^]*x-own: \[redacted\]/);
      expect(stdout + stderr).not.toMatch(/k3y-secret|b3arer-secret|0wn-secret/);
    }
  }),
  row(
    'TX_001',
    'selects the transport by the order of the card',
    async ({ agent, user, fields, document }) => {
      const card = await document(`card get -a ${agent.url}`);
      for (const first of ['GRPC', 'HTTP+JSON', 'JSONRPC']) {
        const supportedInterfaces = card.supportedInterfaces.toSorted(
          (a: any, b: any) => Number(b.protocolBinding === first) - Number(a.protocolBinding === first),
        );
        writeFileSync(join(user.home, 'ordered.json'), JSON.stringify({ ...card, supportedInterfaces }));
        const { Selected } = await fields('card get -a ordered.json');
        expect(Selected?.startsWith(`${first} 1.0`), Selected).toBe(true);
      }
    },
  ),
  row(
    'TX_002',
    'prefers --transport and skips transports that the card does not offer',
    async ({ agent, fields, raw }) => {
      expect((await fields(`card get -a ${agent.url}`)).Selected).toMatch(/^JSONRPC/);
      expect(
        (await fields(`card get -a ${agent.url} --transport HTTP+JSON --transport JSONRPC`)).Selected,
      ).toMatch(/^HTTP\+JSON/);
      const one = await raw({ on: { SendMessage: () => ({ task: wireTask1_0('COMPLETED') }) } });
      expect((await fields(`send -a ${one.url} hi --transport GRPC --transport HTTP+JSON`)).State).toBe(
        'TASK_STATE_COMPLETED',
      );
    },
  ),
  row('TX_003', 'sends the tenant of the card with each request', async ({ user, fields, raw }) => {
    const answers = {
      SendMessage: () => ({ task: wireTask1_0('COMPLETED') }),
      GetTask: () => wireTask1_0('COMPLETED'),
    };
    const bare = await raw({ on: answers });
    const card = card1_0At(bare.url);
    const [first] = card.supportedInterfaces as object[];
    writeFileSync(
      join(user.home, 'tenant.json'),
      JSON.stringify({ ...card, supportedInterfaces: [{ ...first, tenant: 'blue/1' }] }),
    );
    for (const words of ['send hi', 'task get task-1']) {
      await fields(`${words} -a tenant.json`);
      expect(bare.requests.at(-1)?.json.params.tenant).toBe('blue/1');
      await fields(`${words} -a ${bare.url}`);
      expect(bare.requests.at(-1)?.json.params).not.toHaveProperty('tenant');
    }
  }),
  row(
    'VER_001',
    'signals its version and uses versions before 1.0 only on request',
    async ({ agent, user, fields, document, raw }) => {
      const one = await raw({ on: { SendMessage: () => ({ task: wireTask1_0('COMPLETED') }) } });
      await fields(`send -a ${one.url} hi`);
      expect(one.requests.map(({ headers }) => headers['a2a-version'])).toEqual(
        one.requests.map(() => '1.0'),
      );
      const old = await document(`card get -a ${agent.url}`);
      writeFileSync(
        join(user.home, 'old.json'),
        JSON.stringify({
          ...old,
          supportedInterfaces: old.supportedInterfaces.filter((each: any) => each.protocolVersion === '0.3'),
        }),
      );
      const { error } = await document('send -a old.json hi', 1);
      expect(error).toMatchObject({
        code: 'VersionNotSupportedError',
        message: 'The agent offers A2A 0.3, not 1.0',
        hint: expect.stringContaining('--a2a-version auto'),
      });
      expect((await fields('card get -a old.json')).text).toContain('Interface: JSONRPC 0.3');
      for (const version of ['0.3', 'auto'])
        expect((await fields(`send -a old.json hi --a2a-version ${version}`)).State).toBe(
          'TASK_STATE_COMPLETED',
        );
    },
  ),
  row('DEFAULT_001', 'documents every default and allows overriding it', async ({ agent, run }) => {
    const help = (await run('send --help')).stdout.replaceAll(/\s+/g, ' ');
    for (const text of [
      '(default: order of the card)',
      '(choices: "text", "json", default: "text")',
      'default: 1.0',
      '(default: 10m)',
      '(default: 2s)',
      '--async',
      '--verbose',
      '--insecure',
    ])
      expect(help).toContain(text);
    expect((await run(`send -a ${agent.url} hi`)).stdout).not.toContain('History:');
    expect((await run(`send -a ${agent.url} hi --verbose`)).stdout).toContain('History:');
  }),
  row('CONFIG_001', 'shows the configuration and warns about readable secrets', async ({ agent }) => {
    const other = new CliUser();
    mkdirSync(join(other.home, '.config/a2a-cli'), { recursive: true });
    const file = join(other.home, '.config/a2a-cli/.env');
    writeFileSync(file, `A2ACLI_AGENT_CARD=${agent.url}\nA2ACLI_BEARER=s3cret-1\n`, { mode: 0o644 });
    const before = readFileSync(file);
    const { stdout, stderr } = await other.run(['config', 'show']);
    expect(stdout).toContain(`bearer: (set) [file ${file}]`);
    expect(stdout).not.toContain('s3cret-1');
    expect(stderr).toContain(`chmod 600 ${file}`);
    await other.run(['send', 'hi']);
    expect(readFileSync(file)).toEqual(before);
    expect(readdirSync(join(other.home, '.config/a2a-cli'))).toEqual(['.env']);
    other.removeHome();
  }),
  row('CLI_001', 'prints help for all commands, and the version', async ({ run }) => {
    for (const words of ['help', '--help', 'send --help', 'help send', 'task get --help']) {
      const { code, stdout } = await run(words);
      expect(code).toBe(0);
      expect(stdout).toContain('Usage: dragoman');
    }
    for (const flag of ['-v', '--version']) expect((await run(flag)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  }),
  row('SKILL_001', 'ships one skill file for coding agents', async ({ run }) => {
    const files = readdirSync(join(repositoryRoot, 'skills'), { recursive: true, encoding: 'utf8' });
    expect(files.filter((file) => file.endsWith('SKILL.md'))).toEqual([join('dragoman', 'SKILL.md')]);
    const text = readFileSync(join(repositoryRoot, 'skills', 'dragoman', 'SKILL.md'), 'utf8');
    expect(text).toMatch(/^---\nname: dragoman\ndescription: .+\n---\n/);
    expect(text).toMatch(/dragoman help/);
    // Coding agents load it with every conversation, so it must be short.
    expect(text.length).toBeLessThan(2_500);
    const examples = readFileSync(
      join(repositoryRoot, 'skills', 'dragoman', 'references', 'examples.md'),
      'utf8',
    );
    for (const [, command = '', rest = ''] of examples.matchAll(/^npx dragoman (\w+(?: \w+)?) (.*)$/gm)) {
      const [first = '', second = ''] = command.split(' ');
      const { stdout } = await run(
        `${first} ${first === 'task' || first === 'card' ? second : ''} --help`.trim(),
      );
      for (const [flag] of rest.matchAll(/(?<= )--?[a-z][\w-]*/g)) expect(stdout, command).toContain(flag);
    }
  }),
  row('SKILL_002', 'does not repeat the specification in the skill file', async () => {
    const text = readFileSync(join(repositoryRoot, 'skills', 'dragoman', 'SKILL.md'), 'utf8');
    expect(text).not.toMatch(/\b(MUST|SHOULD|MAY|SHALL)\b|A2ACLI_[A-Z]+_\d/);
  }),
];
