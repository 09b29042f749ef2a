import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import {
  cliEntry,
  repositoryRoot,
  runDragoman,
  type RunningCommand,
  runNode,
} from '../../support/cli/run-command.ts';
import { findAgent, readSummary } from '../../support/cli/up-summary.ts';
import { runUp, steadyText } from '../../support/cli/up-text.ts';
import { httpGet, httpOpen } from '../../support/http/http-calls.ts';
import { occupyPort } from '../../support/http/occupied-port.ts';
import { expectTask } from '../../support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const postgres = usePostgres();

describe('dragoman up without its defaults', () => {
  const started: RunningCommand[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });

  it('uses free ports and reports it when the default ports are in use', async () => {
    // Other processes may use the default ports at any time. Of two runs, at least one finds each port in use.
    const seen = new Set<string>();
    for (const running of [runDragoman(['up', '-o', 'json']), runDragoman(['up', '-o', 'json'])]) {
      started.push(running);
      const summary = await readSummary(running);
      for (const [url, port, name] of [
        [summary.gateway, '4000', 'the gateway'],
        [summary.console, '4200', 'the console'],
      ] as const) {
        const actual = new URL(url ?? '').port;
        const note = `info: port ${port} is in use; using another port for ${name}\n`;
        if (actual !== port) await running.prints(new RegExp(note), 'stderr');
        else expect(running.stderr).not.toContain(note);
        seen.add(actual);
      }
    }
    expect(seen.size).toBe(4);
  });

  it('starts without MCP when its package is not installed', async () => {
    const hooks = `export const resolve = (name, context, next) => {
      if (name.startsWith('@modelcontextprotocol/')) throw Object.assign(new Error(name), { code: 'ERR_MODULE_NOT_FOUND' });
      return next(name, context);
    }`;
    const url = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(url(hooks))});`;
    const running = runNode(['--import', url(register), cliEntry, 'up', '-o', 'json']);
    started.push(running);
    const summary = await readSummary(running);
    expect(summary.mcp).toBeUndefined();
    await running.prints(
      /info: MCP is not available: Run: npm install @modelcontextprotocol\/server\n/,
      'stderr',
    );
    expect((await httpGet(`${summary.gateway}/agents`)).json.agents).toHaveLength(2);
  });
});

describe('dragoman up shutdown', () => {
  it('exits with 0 on SIGTERM while streams are open', async () => {
    const running = runDragoman(['up', '-o', 'json']);
    const summary = await readSummary(running);
    const { origin, searchParams } = new URL(summary.console);
    const headers = { authorization: `Bearer ${searchParams.get('token')}` };
    const traffic = await fetch(`${origin}/api/traffic`, { headers });
    const body = (text: string) => ({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] } },
    });
    const stream = await httpOpen(findAgent(summary, 'caravan').url, body('timetable'), {
      'a2a-version': '1.0',
    });
    const { code, stderr } = await running.stop('SIGTERM');
    expect({ code, stderr: stderr.replaceAll(/info: [Pp]ort \d+ is in use.*\n/g, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    await Promise.allSettled([traffic.text(), stream.text()]);
  });
});

describe('dragoman up -c', () => {
  const echo = `agents:\n  echo: { module: ${join(repositoryRoot, 'examples/echo.js')} }\n`;
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-up-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('starts the agents of the file', async () => {
    writeFileSync(
      join(directory, 'greeter.yaml'),
      'agent: { name: Greeter, description: Greets }\notherwise: { then: [{ complete: good day }] }\n',
    );
    writeFileSync(
      join(directory, 'dragoman.yaml'),
      `listen: 0\nconsole: false\n${echo}  greeter: { script: greeter.yaml, only_version: "0.3" }\n`,
    );
    const running = runDragoman(['up', '-c', 'dragoman.yaml', '-o', 'json'], { cwd: directory });
    const summary = await readSummary(running);
    expect(summary).toMatchObject({ agents: [{ name: 'echo' }, { name: 'greeter', onlyVersion: '0.3' }] });
    expect(summary).not.toHaveProperty('console');
    expect(summary).not.toHaveProperty('mcp');
    for (const [name, words] of [
      ['echo', 'You said: hi'],
      ['greeter', 'good day'],
    ] as const) {
      await using agent = connect(findAgent(summary, name).url);
      expect(JSON.stringify(await agent.send('hi'))).toContain(words);
    }
    await running.stop();
  });

  it.each([
    ['the gateway', (port: number) => `listen: ${port}\nconsole: false\n`],
    ['MCP', (port: number) => `listen: 0\nconsole: false\nbridge: { mcp: { port: ${port} } }\n`],
    ['the console', (port: number) => `listen: 0\nconsole: { port: ${port} }\n`],
  ])('exits with 2 when the configured port of %s is in use', async (what, config) => {
    const { port, close } = await occupyPort();
    writeFileSync(join(directory, 'dragoman.yaml'), `${config(port)}${echo}`);
    const { code, stderr } = await runDragoman(['up', '-c', 'dragoman.yaml'], { cwd: directory }).ended;
    await close();
    expect(code).toBe(2);
    expect(stderr).toContain(`Port ${port} for ${what} is in use\n`);
    expect(stderr).toContain('hint: Set another port in dragoman.yaml, or 0 for any free port.');
  });
});

describe.skipIf(!hasPostgres)('dragoman up --store postgres://…', () => {
  it('knows the tasks of its agents after a restart', async () => {
    const command = ['up', '--store', `${postgres().url}?schema=up`, '-o', 'json'];
    const find = async (running: RunningCommand) =>
      connect(findAgent(await readSummary(running), 'interpreter').url);
    const first = runDragoman(command);
    await using before = await find(first);
    const asked = expectTask(await before.send('say thank you'));
    expect((await first.stop()).code).toBe(0);
    const second = runDragoman(command);
    await using after = await find(second);
    expect(await after.getTask({ id: asked.id })).toMatchObject({ status: { state: 'input-required' } });
    await second.stop();
  });
});

describe('dragoman up text output', () => {
  it('fits into 80 columns without colors', async () => {
    const text = await runUp({ NO_COLOR: '1' });
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    await expect(steadyText(text)).toMatchFileSnapshot('../../golden/cli/up.txt');
  });

  it('has the same text with colors', async () => {
    const text = await runUp({ FORCE_COLOR: '1', NO_COLOR: '' });
    expect(text).toContain('\u001b[1mDragoman is up');
    // oxlint-disable-next-line no-control-regex -- matches escape sequences
    const plain = text.replaceAll(/\u001b\[\d+m/g, '');
    await expect(steadyText(plain)).toMatchFileSnapshot('../../golden/cli/up.txt');
  });
});
