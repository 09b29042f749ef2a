import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { type BridgeAgentConfig, readBridgeConfig } from '../../../src/bridge/bridge-config.ts';
import { openAgent } from '../../../src/bridge/open-agent.ts';
import type { SuperviseOptions } from '../../../src/bridge/supervisor/supervise-options.ts';
import {
  type Supervised,
  type SupervisedState,
  supervise,
} from '../../../src/bridge/supervisor/supervise.ts';
import { supervisedAgent } from '../../../src/bridge/supervisor/supervised-agent.ts';
import { connect } from '../../../src/client/connect.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { runNode, repositoryRoot } from '../../support/cli/run-command.ts';
import { type CompiledSources, compileSources } from '../../support/compile-sources.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { processGroup, isProcessAlive, parentProcess } from '../../support/process/processes.ts';

const agents = join(repositoryRoot, 'test/support/agents');
const folder = mkdtempSync(join(tmpdir(), 'dragoman-supervisor-'));
let built: CompiledSources;
const opened: Supervised[] = [];

beforeAll(() => {
  built = compileSources('supervisor', [
    'bridge/supervisor/orphan-reaper.ts',
    'bridge/supervisor/supervise.ts',
  ]);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.stop()));
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

const inBuilt = (file: string) => join(built.folder, 'bridge/supervisor', file);

function start(options: SuperviseOptions): Supervised {
  const start = supervise({
    minDelay: 20,
    maxDelay: 100,
    stopTimeout: 200,
    reaperPath: inBuilt('orphan-reaper.js'),
    ...options,
  });
  opened.push(start);
  return start;
}

/** Writes a program to a file. */
function writeScript(name: string, lines: string): string {
  const file = join(folder, name);
  writeFileSync(file, lines);
  return file;
}

/** Writes a minimal agent that serves only a card. */
function writeAgent(name: string, more = ''): string {
  return writeScript(
    name,
    `import { createServer } from 'node:http';
    ${more}
    const url = 'http://127.0.0.1:' + process.argv[2];
    const card = { name: process.env.AGENT_NAME ?? 'Tiny', description: process.cwd(), version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }], capabilities: {},
      defaultInputModes: [], defaultOutputModes: [], skills: [] };
    createServer((_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(card)))
      .listen(Number(process.argv[2]), '127.0.0.1');`,
  );
}

const freeAddress = async () => {
  const port = await findFreePort();
  return { port, url: `http://127.0.0.1:${port}` };
};

function becomes(supervised: Supervised, wanted: SupervisedState): Promise<void> {
  return new Promise((resolve) => {
    const stop = supervised.onState((state) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}

const textRequest = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});
const textOf = (response: unknown) => ((response as Message).parts[0] as { text: string }).text;

describe.each(['sdk-0.3', 'sdk-1.3'])('supervise with an agent on %s', (sdk) => {
  it('starts, serves and stops the agent', async () => {
    const { port, url } = await freeAddress();
    const run = start({ command: ['node', join(agents, `${sdk}.mjs`), String(port)], url });
    await run.whenReady();
    const agent = connect(url);
    expect(textOf(await agent.send(textRequest('pid')))).toBe(String(run.pid));
    expect(run.output()).toEqual([{ stream: 'stdout', text: `listening on ${port}` }]);
    const { pid = 0 } = run;
    await run.stop();
    await agent.close();
    expect(run.state).toBe('stopped');
    expect(isProcessAlive(pid)).toBe(false);
    await expect(run.whenReady()).rejects.toThrow(`The agent at ${url} was stopped`);
  });

  it('restarts the agent after each of five kills while calls wait or fail with UNAVAILABLE', async () => {
    const { port, url } = await freeAddress();
    // A restart takes as long as the machine needs to start two processes; no time limit may decide the result.
    const run = start({
      command: ['node', join(agents, `${sdk}.mjs`), String(port)],
      url,
      startupTimeout: 110_000,
    });
    await run.whenReady();
    const agent = supervisedAgent(run, connect(url), { restartTimeout: 110_000 });
    const pids = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const pid = run.pid ?? 0;
      pids.add(String(pid));
      const isRestarting = becomes(run, 'restarting');
      process.kill(pid, 'SIGKILL');
      // Some calls start before the exit is noticed, some during the restart.
      const early = Promise.allSettled([agent.send(textRequest('a')), agent.send(textRequest('b'))]);
      await isRestarting;
      expect(run.error?.message).toBe(`The agent at ${url} was terminated by SIGKILL`);
      const late = [agent.send(textRequest('a')), agent.send(textRequest('b'))];
      for (const outcome of await early) {
        if (outcome.status === 'fulfilled') {
          expect(textOf(outcome.value)).toMatch(/^[ab]$/);
          continue;
        }
        expect(outcome.reason).toBeInstanceOf(A2AError);
        expect(outcome.reason).toMatchObject({ reason: 'UNAVAILABLE' });
        expect((outcome.reason as Error).message).toMatch(/^Connection (to|refused by) http/);
      }
      expect((await Promise.all(late)).map(textOf)).toEqual(['a', 'b']);
      expect(textOf(await agent.send(textRequest('pid')))).toBe(String(run.pid));
    }
    expect(pids.size).toBe(5);
    expect(run.restarts).toBe(5);
    await agent.close();
  });
});

describe('output and failures of a supervised agent', () => {
  it('does not block an agent that prints 50 MB', async () => {
    const { port, url } = await freeAddress();
    // The agent listens only after all writes have finished.
    const noise = `import { writeSync } from 'node:fs';
      const line = 'x'.repeat(99) + '\\n';
      const block = Buffer.from(line.repeat(1000));
      for (let sent = 0; sent < 50_000_000; ) {
        for (let at = 0; at < block.length; ) {
          try { at += writeSync(2, block, at); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
        }
        sent += block.length;
      }
      writeSync(2, 'done\\n');`;
    let size = 0;
    const run = start({
      command: ['node', writeAgent('noisy.mjs', noise), String(port)],
      url,
      onOutput: ({ stream, text }) => {
        if (stream === 'stderr') size += text.length + 1;
      },
    });
    await run.whenReady();
    await vi.waitFor(() => expect(run.output().at(-1)?.text).toBe('done'));
    expect(size).toBe(50_000_005);
    const retained = run.output().reduce((sum, { text }) => sum + text.length + 1, 0);
    expect(retained).toBeLessThanOrEqual(65_536);
  });

  it('reports the exit code and output of an agent that does not start', async () => {
    const { url } = await freeAddress();
    const file = writeScript('broken.mjs', "console.error('no key for the model'); process.exit(3);");
    const run = start({ command: `node '${file}'`, url });
    await expect(run.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} exited with code 3 before it was ready`,
      hint: 'Last output:\nno key for the model',
    });
    expect(run.state).toBe('failed');
  });

  it('stops an agent that does not respond and reports its output', async () => {
    const { url } = await freeAddress();
    const file = writeScript('mute.mjs', "console.log('thinking'); setInterval(() => {}, 1000);");
    const clock = new ManualClock();
    const run = await new Promise<Supervised>((resolve) => {
      const run = start({ command: ['node', file], url, clock, onOutput: () => resolve(run) });
    });
    const { pid = 0 } = run;
    expect(isProcessAlive(pid)).toBe(true);
    clock.advance(30_000);
    await expect(run.whenReady()).rejects.toMatchObject({
      message: expect.stringMatching(/did not respond within 30 s: Connection refused by http/) as string,
      hint: 'Last output:\nthinking',
    });
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('fails and stops an agent that moves into the background', async () => {
    const { port, url } = await freeAddress();
    const file = writeAgent('forks.mjs');
    const command = ['sh', '-c', `"${process.execPath}" "${file}" ${port} & echo $!; exit 0`];
    const run = start({ command, url });
    const error = (await run.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/exited with code 0 before it was ready$/);
    expect(error.hint).toMatch(/^Run the agent in the foreground\. Last output:\n\d+$/);
    expect(run.state).toBe('failed');
    expect(isProcessAlive(Number(run.output()[0]?.text))).toBe(false);
  });

  it.each([
    ['serves HTML for every path', (response: ServerResponse) => response.end('<html>Welcome</html>')],
    ['serves an empty object for every path', (response: ServerResponse) => response.end('{}')],
    ['responds 404 to everything', (response: ServerResponse) => response.writeHead(404).end()],
    ['never responds', () => {}],
  ])('fails when its port is used by a server that %s', async (_what, respond) => {
    const otherServer = createServer((_, response) => void respond(response));
    await new Promise<void>((resolve) => otherServer.listen(0, '127.0.0.1', resolve));
    const { port } = otherServer.address() as AddressInfo;
    const file = writeAgent('late.mjs');
    const run = start({
      command: [process.execPath, file, String(port)],
      url: `http://127.0.0.1:${port}`,
      startupTimeout: 60_000,
    });
    const error = (await run.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/exited with code 1 before it was ready$/);
    expect(error.hint).toContain('EADDRINUSE');
    otherServer.closeAllConnections();
    await new Promise((resolve) => otherServer.close(resolve));
  });

  it('fails when the program does not exist', async () => {
    const { url } = await freeAddress();
    const run = start({ command: 'no-such-program-anywhere --port 1', url });
    await expect(run.whenReady()).rejects.toThrow(
      `The agent at ${url} failed to start: spawn no-such-program-anywhere ENOENT`,
    );
  });
});

describe('environment of a supervised agent', () => {
  it('uses workingDir, and envFile overrides env and the environment of the process', async () => {
    const { port, url } = await freeAddress();
    writeFileSync(join(folder, '.env'), 'AGENT_NAME="From a file" # not from here\n');
    const file = writeAgent('placed.mjs');
    const run = start({
      command: ['node', file, String(port)],
      url,
      workingDir: folder,
      env: { AGENT_NAME: 'From the options' },
      envFile: join(folder, '.env'),
    });
    await run.whenReady();
    const agent = connect(url);
    expect(await agent.card()).toMatchObject({ name: 'From a file', description: folder });
    await agent.close();
  });

  it('checks once that an agent started elsewhere is running and does not stop it', async () => {
    const { port, url } = await freeAddress();
    const checking = start({ url });
    await expect(checking.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} is not available: Connection refused by ${url}`,
      hint: 'Check that the agent is running and that the URL is correct.',
    });
    expect(checking.state).toBe('failed');
    const other = start({ command: ['node', writeAgent('other.mjs'), String(port)], url: `${url}/` });
    await other.whenReady();
    await checking.whenReady();
    expect(checking).toMatchObject({ state: 'ready', pid: undefined, error: undefined });
    await checking.stop();
    expect(checking.state).toBe('stopped');
    await expect(checking.whenReady()).rejects.toThrow(`The agent at ${url} was stopped`);
    expect(isProcessAlive(other.pid ?? 0)).toBe(true);
  });
});

describe('process group of a supervised agent', () => {
  /** A shell with children that ignore SIGTERM, one of them the agent. */
  const shellCommand = (port: number, agent: string) =>
    `sh -c "trap '' TERM; sleep 1000 & sleep 1000 & node '${agent}' ${port} & wait"`;

  it('is killed completely by stop', async () => {
    const { port, url } = await freeAddress();
    const agent = writeAgent('deaf.mjs', "process.on('SIGTERM', () => {});");
    const run = start({ command: shellCommand(port, agent), url });
    await run.whenReady();
    const { pid = 0 } = run;
    const members = processGroup(pid);
    expect(members.length).toBe(4);
    await run.stop();
    expect(members.filter(isProcessAlive)).toEqual([]);
  });

  it('is killed when its leader exits, so that the port is free for the restart', async () => {
    const { port, url } = await freeAddress();
    const run = start({ command: shellCommand(port, writeAgent('left.mjs')), url });
    await run.whenReady();
    const members = processGroup(run.pid ?? 0);
    expect(members.length).toBe(4);
    const isReady = becomes(run, 'ready');
    process.kill(run.pid ?? 0, 'SIGKILL');
    await isReady;
    expect(members.filter(isProcessAlive)).toEqual([]);
    expect(run.restarts).toBe(1);
  });

  it.each([
    ['an agent', (port: number) => `node ${writeAgent('orphan.mjs')} ${port}`],
    [
      'a group that ignores SIGTERM',
      (port: number) => shellCommand(port, writeAgent('deaf-orphan.mjs', "process.on('SIGTERM', () => {});")),
    ],
  ])('is reaped within 5 s after SIGKILL of the supervisor: %s', async (_what, command) => {
    const { port, url } = await freeAddress();
    const fixture = join(repositoryRoot, 'test/integration/fixtures/supervising.mjs');
    const module = pathToFileURL(inBuilt('supervise.js')).href;
    const bridge = runNode([fixture, module, command(port), url]);
    const [, pid] = await bridge.prints(/^ready (\d+)\n/);
    const members = processGroup(Number(pid));
    expect(members).toContain(Number(pid));
    await bridge.stop('SIGKILL');
    try {
      await vi.waitFor(() => expect(members.filter(isProcessAlive)).toEqual([]), {
        timeout: 5000,
        interval: 100,
      });
    } finally {
      // Cleans up if the assertion fails.
      for (const member of members.filter(isProcessAlive)) process.kill(member, 'SIGKILL');
    }
  });

  it('is killed and restarted when its orphan reaper is killed', async () => {
    const { port, url } = await freeAddress();
    const run = start({ command: ['node', writeAgent('guarded.mjs'), String(port)], url });
    await run.whenReady();
    const { pid = 0 } = run;
    const isReady = becomes(run, 'ready');
    process.kill(parentProcess(pid), 'SIGKILL');
    await isReady;
    expect(isProcessAlive(pid)).toBe(false);
    expect(run.restarts).toBe(1);
  });

  it('is not restarted after exit code 0', async () => {
    const { port, url } = await freeAddress();
    const file = writeAgent('polite.mjs', "process.on('SIGUSR2', () => process.exit(0));");
    const run = start({ command: ['node', file, String(port)], url });
    await run.whenReady();
    const isStopped = becomes(run, 'stopped');
    process.kill(run.pid ?? 0, 'SIGUSR2');
    await isStopped;
    await expect(run.whenReady()).rejects.toThrow('exited with code 0');
    expect(run.restarts).toBe(0);
  });
});

describe('openAgent', () => {
  it('starts the configured agent and serves actions through a crash', async () => {
    const { port, url } = await freeAddress();
    const text = `agent_name: echo
a2a_server_url: ${url}
a2a_server_command: node '${join(agents, 'sdk-0.3.mjs')}' ${port}
a2a_server_working_dir: ${folder}
`;
    const [config] = readBridgeConfig(text, join(folder, 'bridge.yaml'), {});
    const opened = openAgent(config as BridgeAgentConfig, {
      supervise: { reaperPath: inBuilt('orphan-reaper.js'), minDelay: 20, stopTimeout: 200 },
    });
    // The agent is not ready yet; the bridge waits.
    const actions = await bridge({ ...opened.bridge });
    expect(actions.actions().map(({ name }) => name)).toContain('echo/echo');
    expect(await actions.invoke('echo/echo', { prompt: 'pid' })).toMatchObject({
      success: true,
      message: String(opened.supervised.pid),
    });
    const isRestarting = becomes(opened.supervised, 'restarting');
    process.kill(opened.supervised.pid ?? 0, 'SIGKILL');
    await isRestarting;
    expect(await actions.invoke('echo/echo', { prompt: 'again' })).toMatchObject({
      success: true,
      message: 'again',
    });
    await actions.close();
    await opened.close();
    expect(opened.supervised.state).toBe('stopped');
    expect(await actions.invoke('echo/echo', { prompt: 'gone' })).toMatchObject({ success: false });
  });
});
