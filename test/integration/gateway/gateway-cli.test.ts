import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { cliEntry, runNode, repositoryRoot, type RunningCommand } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';
import { httpGet, callRpc } from '../../support/http/http-calls.ts';

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'dragoman-gateway-'));
  open.push({ close: () => rm(path, { recursive: true }) });
  return path;
}

function run(...args: string[]): RunningCommand {
  const running = runNode([cliEntry, 'gateway', ...args]);
  open.push({ close: () => running.stop('SIGKILL') });
  return running;
}

async function startSample(): Promise<string> {
  const server = await serve(sampleAgent());
  open.push({ close: () => server.stop(0) });
  return server.url;
}

describe('dragoman gateway', () => {
  it('prints diagnostics of an invalid file and exits with 2', async () => {
    const file = join(folder(), 'a.yaml');
    writeFileSync(file, 'listen: 0\nagents:\n  a:\n    url: nowhere\n    foo: 1\n');
    for (const flags of [['--check'], []]) {
      const { code, stdout, stderr } = await runInProcess(['gateway', '-c', file, ...flags]);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(
        `error: Invalid file: ${file}\n  ${file}:4:5: agents.a.url: must be an http or https URL\n  ${file}:5:5: agents.a.foo: unknown key\nhint: Fix the errors above and start again; nothing was started.\n`,
      );
    }
    expect(await runInProcess(['gateway', '-c', join(folder(), 'none.yaml')])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/File not found: \S+none\.yaml\n/),
    });
  });

  it.each(readdirSync(join(repositoryRoot, 'examples/gateway')))(
    'accepts the example %s with --check',
    async (file) => {
      expect(await runInProcess(['gateway', '-c', `examples/gateway/${file}`, '--check'])).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/ is valid: \d agents?\n$/),
      });
    },
  );

  it('serves the configured agents, reloads on SIGHUP and exits on SIGTERM', async () => {
    const url = await startSample();
    const file = join(folder(), 'a.yaml');
    writeFileSync(file, `listen: 1\nagents:\n  a: { url: "${url}" }\n`);
    const running = run('-c', file, '--port', '0', '-o', 'json');
    const [, at = ''] = await running.prints(/^listening on (\S+)\n/, 'stderr');
    const [, summary = ''] = await running.prints(/^(\{.*\})\n$/);
    expect(JSON.parse(summary)).toEqual({
      url: at,
      agents: [{ name: 'a', from: url, at: [`${at}/agents/a`] }],
    });
    const message = {
      kind: 'message',
      role: 'user',
      messageId: 'm',
      parts: [{ kind: 'text', text: 'hello' }],
    };
    const { result } = await callRpc(`${at}/agents/a`, 'message/send', { message });
    expect(JSON.stringify(result)).toContain('hello');

    writeFileSync(
      file,
      `agents:\n  a: { url: "${url}" }\n  b: { url: "${url}/", request_timeout_seconds: 3 }\n`,
    );
    running.process.kill('SIGHUP');
    await running.prints(/Reloaded \S+: \+b/, 'stderr');
    expect((await httpGet(`${at}/agents/b/.well-known/agent-card.json`)).status).toBe(200);

    writeFileSync(file, 'agents:\n  a: { url: "" }\n');
    running.process.kill('SIGHUP');
    await running.prints(
      /a\.yaml:2:8: agents\.a\.url: must be an http[^]*the previous configuration stays active/,
      'stderr',
    );
    expect((await httpGet(`${at}/agents`)).json.agents).toHaveLength(2);
    expect(await running.stop()).toMatchObject({ code: 0 });
  });
});

describe('client command with the root URL of a gateway', () => {
  const client = (...args: string[]) => runInProcess(args, { env: { NO_COLOR: '1' } });
  const cardOf = (at: string, name: string) => `${at}/agents/${name}/.well-known/agent-card.json`;
  const entry = (url: string, displayName: unknown, identifier = 'x') => ({
    identifier,
    type: 'application/a2a-agent-card+json',
    url,
    displayName,
  });

  async function startGateway(...names: string[]): Promise<string> {
    const file = join(folder(), 'a.yaml');
    const url = await startSample();
    writeFileSync(file, `agents:\n${names.map((name) => `  ${name}: { url: "${url}" }\n`).join('')}`);
    const [, at = ''] = await run('-c', file, '--port', '0').prints(/^listening on (\S+)\n/);
    return at;
  }

  async function startCatalog(entries: unknown): Promise<string> {
    const raw = await startRawServer(({ path }, response) =>
      respondJson(response, { specVersion: '1.0', entries }, path.endsWith('ai-catalog.json') ? 200 : 404),
    );
    open.push(raw);
    return raw.url;
  }

  it('names the agents and hints at the URL of one', async () => {
    const at = await startGateway('echo', 'weather');
    const hint = (command: string) =>
      `Name one of its agents: dragoman ${command} -a ${cardOf(at, 'echo')} … To list all, run dragoman card list -a ${at}/.well-known/ai-catalog.json.`;
    expect(await client('send', '-a', `${at}/`, 'hello')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `error: No agent card found at ${at}/; its catalog lists 2 agents: echo (${cardOf(at, 'echo')}), weather (${cardOf(at, 'weather')})
code: A2ACLI_ERR_CARD_NOT_FOUND
hint: ${hint('send')}
`,
    });
    const { error } = JSON.parse((await client('task', 'get', 'x', '-o', 'json', '-a', at)).stdout);
    expect(error).toMatchObject({ code: 'A2ACLI_ERR_CARD_NOT_FOUND', hint: hint('task get') });
    for (const reference of [cardOf(at, 'echo'), `${at}#echo`])
      expect((await client('send', '-a', reference, 'hello')).code).toBe(0);
    expect(await client('card', 'list', '-a', at, '--verbose')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: `Catalog: ${at}/.well-known/ai-catalog.json
Agents: 2

Name: echo
Card: ${cardOf(at, 'echo')}
Identifier: urn:air:${new URL(at).hostname}:agent:echo

Name: weather
Card: ${cardOf(at, 'weather')}
Identifier: urn:air:${new URL(at).hostname}:agent:weather
`,
    });
  });

  it('uses the only agent', async () => {
    const at = await startGateway('echo');
    expect((await client('send', '-a', at, 'hello')).code).toBe(0);
    const { stdout } = await client('card', 'get', '-a', at);
    expect(stdout).toContain(`Card: ${cardOf(at, 'echo')}\n`);
  });

  it.each([
    ['none', [], /No agent card found at \S+\n.*\nhint: Pass the URL of the agent or of its card/],
    ['no list', 'agents', /No agent card found at \S+\n.*\nhint: Pass the URL of the agent or of its card/],
    [
      'hostile',
      [entry("http://h/a'; rm -rf ~", '\u001b]0;x\u0007; rm -rf ~\nb'), entry('http://h/b', 7, 'urn:y')],
      /2 agents: \S* ?\]0;x ; rm -rf ~ b \(\S+\), y \(http:\/\/h\/b\)\n.*\n.* -a 'http:\/\/h\/a'\\'';%20rm%20-rf%20~' /,
    ],
  ])('handles a catalog with unusual content: %s', async (_what, entries, expected) => {
    const { stderr } = await client('send', '-a', await startCatalog(entries), 'hello');
    expect(stderr).toMatch(expected);
    expect(stderr.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('lists a catalog as JSON, and says where there is none', async () => {
    const at = await startCatalog([
      { ...entry('https://x.example/card', 'X'), tags: ['a'], description: 'Does x', version: '1' },
      { ...entry('ftp://x', 'Y') },
    ]);
    const { stdout, stderr } = await client('card', 'list', '-a', at, '-o', 'json');
    expect(JSON.parse(stdout)).toEqual({
      catalog: `${at}/.well-known/ai-catalog.json`,
      agents: [
        {
          identifier: 'x',
          name: 'X',
          description: 'Does x',
          version: '1',
          tags: ['a'],
          cardUrl: 'https://x.example/card',
        },
      ],
      omitted: 1,
    });
    expect(stderr).toContain('1 entries');
    const missing = await client('card', 'list', '-a', await startSample());
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('No catalog found at') });
    expect((await client('card', 'list', '-a', './package.json')).code).toBe(2);
  });
});
