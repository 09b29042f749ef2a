import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { cliEntry, runNode, repositoryRoot, type RunningCommand } from '../../support/cli/run-command.ts';
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
      const { code, stdout, stderr } = await run('-c', file, ...flags).ended;
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toBe(
        `error: Invalid file: ${file}\n  ${file}:4:5: agents.a.url: must be an http or https URL\n  ${file}:5:5: agents.a.foo: unknown key\nhint: Fix the errors above and start again; nothing was started.\n`,
      );
    }
    expect(await run('-c', join(folder(), 'none.yaml')).ended).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/File not found: \S+none\.yaml\n/),
    });
  });

  it.each(readdirSync(join(repositoryRoot, 'examples/gateway')))(
    'accepts the example %s with --check',
    async (file) => {
      expect(await run('-c', `examples/gateway/${file}`, '--check').ended).toMatchObject({
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
  const client = (...args: string[]) => runNode([cliEntry, ...args], { env: { NO_COLOR: '1' } }).ended;

  it('lists the agents and hints at the URL of one', async () => {
    const file = join(folder(), 'a.yaml');
    const url = await startSample();
    writeFileSync(file, `agents:\n  echo: { url: "${url}" }\n  weather: { url: "${url}" }\n`);
    const [, at = ''] = await run('-c', file, '--port', '0').prints(/^listening on (\S+)\n/);
    expect(await client('send', '-a', `${at}/`, 'hello')).toMatchObject({
      code: 3,
      stdout: '',
      stderr: `error: No agent card found at ${at}/, which is a gateway to echo, weather
code: A2ACLI_ERR_CARD_NOT_FOUND
hint: Name one of its agents: dragoman send -a ${at}/agents/echo …
`,
    });
    const { error } = JSON.parse((await client('task', 'get', 'x', '-o', 'json', '-a', at)).stdout);
    expect(error).toMatchObject({
      code: 'A2ACLI_ERR_CARD_NOT_FOUND',
      hint: `Name one of its agents: dragoman task get -a ${at}/agents/echo …`,
    });
    expect((await client('send', '-a', `${at}/agents/echo`, 'hello')).code).toBe(0);
  });

  it.each([
    ['many', Array.from({ length: 12 }, (_, i) => ({ name: `a${i}` })), /to a0, a1, .*, a9 and 2 more\n/],
    ['odd', [{ name: 'a; rm -rf ~' }, { name: 1 }, null, { name: 'b' }], /which is a gateway to b\n/],
    ['none', [], /No agent card found at \S+\n.*\nhint: Pass the URL of the agent or of its card/],
    ['no list', 'agents', /No agent card found at \S+\n.*\nhint: Pass the URL of the agent or of its card/],
  ])('handles an agent listing with unusual content: %s', async (_what, agents, expected) => {
    const raw = await startRawServer(({ path }, response) =>
      respondJson(response, { agents }, path === '/agents' ? 200 : 404),
    );
    open.push(raw);
    expect((await client('send', '-a', raw.url, 'hello')).stderr).toMatch(expected);
  });

  it('does not request /agents when the URL has a path', async () => {
    const raw = await startRawServer((_request, response) =>
      respondJson(response, { agents: [{ name: 'a' }] }, 404),
    );
    open.push(raw);
    expect((await client('send', '-a', `${raw.url}/x`, 'hello')).stderr).toContain(
      'Pass the URL of the agent or of its card',
    );
    expect(raw.requests.map(({ path }) => path)).not.toContain('/agents');
  });
});
