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
  built = compileSources('supervisor', ['bridge/supervisor/guard.ts', 'bridge/supervisor/supervise.ts']);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.stop()));
});

afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

const inBuilt = (file: string) => join(built.folder, 'bridge/supervisor', file);

function supervised(options: SuperviseOptions): Supervised {
  const made = supervise({
    minDelay: 20,
    maxDelay: 100,
    stopTimeout: 200,
    reaperPath: inBuilt('guard.js'),
    ...options,
  });
  opened.push(made);
  return made;
}

/** A program of some lines, with its file name. */
function script(name: string, lines: string): string {
  const file = join(folder, name);
  writeFileSync(file, lines);
  return file;
}

/** An agent without a library: enough to be found. */
function tinyAgent(name: string, more = ''): string {
  return script(
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

const addressOf = async () => {
  const port = await findFreePort();
  return { port, url: `http://127.0.0.1:${port}` };
};

function becomes(of: Supervised, wanted: SupervisedState): Promise<void> {
  return new Promise((resolve) => {
    const stop = of.onState((state) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}

const say = (text: string) => ({
  message: { messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text }] },
});
const textOf = (answer: unknown) => ((answer as Message).parts[0] as { text: string }).text;

describe.each(['sdk-0.3', 'sdk-1.3'])('an agent on %s', (sdk) => {
  it('is started, spoken to and stopped', async () => {
    const { port, url } = await addressOf();
    const run = supervised({ command: ['node', join(agents, `${sdk}.mjs`), String(port)], url });
    await run.whenReady();
    const agent = connect(url);
    expect(textOf(await agent.send(say('pid')))).toBe(String(run.pid));
    expect(run.output()).toEqual([{ stream: 'stdout', text: `listening on ${port}` }]);
    const { pid = 0 } = run;
    await run.stop();
    await agent.close();
    expect(run.state).toBe('stopped');
    expect(isProcessAlive(pid)).toBe(false);
    await expect(run.whenReady()).rejects.toThrow(`The agent at ${url} was stopped`);
  });

  it('is started again each of the five times that it is killed, and calls meanwhile wait or say why not', async () => {
    const { port, url } = await addressOf();
    const run = supervised({ command: ['node', join(agents, `${sdk}.mjs`), String(port)], url });
    await run.whenReady();
    const agent = supervisedAgent(run, connect(url));
    const pids = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const pid = run.pid ?? 0;
      pids.add(String(pid));
      const isRestarting = becomes(run, 'restarting');
      process.kill(pid, 'SIGKILL');
      // Some come before anybody noticed, some during the restart.
      const early = Promise.allSettled([agent.send(say('a')), agent.send(say('b'))]);
      await isRestarting;
      expect(run.error?.message).toBe(`The agent at ${url} ended by SIGKILL`);
      const late = [agent.send(say('a')), agent.send(say('b'))];
      for (const outcome of await early) {
        if (outcome.status === 'fulfilled') {
          expect(textOf(outcome.value)).toMatch(/^[ab]$/);
          continue;
        }
        expect(outcome.reason).toBeInstanceOf(A2AError);
        expect(outcome.reason).toMatchObject({ reason: 'UNAVAILABLE' });
        expect((outcome.reason as Error).message).toMatch(/^(The connection to|Connection refused by) http/);
      }
      expect((await Promise.all(late)).map(textOf)).toEqual(['a', 'b']);
      expect(textOf(await agent.send(say('pid')))).toBe(String(run.pid));
    }
    expect(pids.size).toBe(5);
    expect(run.restarts).toBe(5);
    await agent.close();
  }, 90_000);
});

describe('what an agent prints', () => {
  it('never holds it up, were it 50 MB', async () => {
    const { port, url } = await addressOf();
    // Writes wait until they are taken, and only then is there an agent.
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
    const run = supervised({
      command: ['node', tinyAgent('noisy.mjs', noise), String(port)],
      url,
      onOutput: ({ stream, text }) => {
        if (stream === 'stderr') size += text.length + 1;
      },
    });
    await run.whenReady();
    await vi.waitFor(() => expect(run.output().at(-1)?.text).toBe('done'));
    expect(size).toBe(50_000_005);
    const kept = run.output().reduce((sum, { text }) => sum + text.length + 1, 0);
    expect(kept).toBeLessThanOrEqual(65_536);
  });

  it('is told when it does not start, with the exit code', async () => {
    const { url } = await addressOf();
    const file = script('broken.mjs', "console.error('no key for the model'); process.exit(3);");
    const run = supervised({ command: `node '${file}'`, url });
    await expect(run.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} ended with exit code 3 before it was ready`,
      hint: 'It printed last:\nno key for the model',
    });
    expect(run.state).toBe('failed');
  });

  it('is told when it never answers, and nothing of it is left', async () => {
    const { url } = await addressOf();
    const file = script('mute.mjs', "console.log('thinking'); setInterval(() => {}, 1000);");
    const clock = new ManualClock();
    const run = await new Promise<Supervised>((resolve) => {
      const made = supervised({ command: ['node', file], url, clock, onOutput: () => resolve(made) });
    });
    const { pid = 0 } = run;
    expect(isProcessAlive(pid)).toBe(true);
    clock.advance(30_000);
    await expect(run.whenReady()).rejects.toMatchObject({
      message: expect.stringMatching(/did not answer within 30 s: Connection refused by http/) as string,
      hint: 'It printed last:\nthinking',
    });
    expect(isProcessAlive(pid)).toBe(false);
  });

  it('is told when it went into the background, where nobody could look after it', async () => {
    const { port, url } = await addressOf();
    const file = tinyAgent('forks.mjs');
    const command = ['sh', '-c', `"${process.execPath}" "${file}" ${port} & echo $!; exit 0`];
    const made = supervised({ command, url });
    const error = (await made.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/ended with exit code 0 before it was ready$/);
    expect(error.hint).toMatch(/^It must not go into the background\. It printed last:\n\d+$/);
    expect(made.state).toBe('failed');
    expect(isProcessAlive(Number(made.output()[0]?.text))).toBe(false);
  });

  it.each([
    [
      'gives its own pages for every path',
      (response: ServerResponse) => response.end('<html>Welcome</html>'),
    ],
    ['gives an empty object for every path', (response: ServerResponse) => response.end('{}')],
    ['says no to everything', (response: ServerResponse) => response.writeHead(404).end()],
    ['never answers', () => {}],
  ])('is told when its port belongs to a program that %s', async (_what, answer) => {
    const stranger = createServer((_, response) => void answer(response));
    await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
    const { port } = stranger.address() as AddressInfo;
    const file = tinyAgent('late.mjs');
    const made = supervised({
      command: [process.execPath, file, String(port)],
      url: `http://127.0.0.1:${port}`,
      startupTimeout: 60_000,
    });
    const error = (await made.whenReady().catch((thrown: unknown) => thrown)) as A2AError;
    expect(error.message).toMatch(/ended with exit code 1 before it was ready$/);
    expect(error.hint).toContain('EADDRINUSE');
    stranger.closeAllConnections();
    await new Promise((resolve) => stranger.close(resolve));
  });

  it('is not needed to say that there is no such program', async () => {
    const { url } = await addressOf();
    const run = supervised({ command: 'no-such-program-anywhere --port 1', url });
    await expect(run.whenReady()).rejects.toThrow(
      `The agent at ${url} could not be run: spawn no-such-program-anywhere ENOENT`,
    );
  });
});

describe('the surroundings of an agent', () => {
  it('are its working directory and the environment of the file, over the one of this process', async () => {
    const { port, url } = await addressOf();
    writeFileSync(join(folder, '.env'), 'AGENT_NAME="From a file" # not from here\n');
    const file = tinyAgent('placed.mjs');
    const run = supervised({
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

  it('may be those of somebody else: without a command it is waited for and left alone', async () => {
    const { port, url } = await addressOf();
    const waiting = supervised({ url });
    const other = supervised({ command: ['node', tinyAgent('other.mjs'), String(port)], url: `${url}/` });
    await waiting.whenReady();
    await other.whenReady();
    await waiting.stop();
    expect(isProcessAlive(other.pid ?? 0)).toBe(true);
    const nobody = supervised({ url: (await addressOf()).url, startupTimeout: 200 });
    await expect(nobody.whenReady()).rejects.toThrow(/did not answer within 0.2 s/);
  });
});

describe('the end', () => {
  /** A shell with children that do not hear SIGTERM, one of them the agent. */
  const family = (port: number, agent: string) =>
    `sh -c "trap '' TERM; sleep 1000 & sleep 1000 & node '${agent}' ${port} & wait"`;

  it('of a shell is the end of all it started', async () => {
    const { port, url } = await addressOf();
    const agent = tinyAgent('deaf.mjs', "process.on('SIGTERM', () => {});");
    const run = supervised({ command: family(port, agent), url });
    await run.whenReady();
    const { pid = 0 } = run;
    const members = processGroup(pid);
    expect(members.length).toBe(4);
    await run.stop();
    expect(members.filter(isProcessAlive)).toEqual([]);
  });

  it('of the leader of a group takes the rest along, so that the next one finds its port free', async () => {
    const { port, url } = await addressOf();
    const run = supervised({ command: family(port, tinyAgent('left.mjs')), url });
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
    ['an agent', (port: number) => `node ${tinyAgent('orphan.mjs')} ${port}`],
    [
      'a family that does not listen',
      (port: number) => family(port, tinyAgent('deaf-orphan.mjs', "process.on('SIGTERM', () => {});")),
    ],
  ])('of this process by SIGKILL is the end of %s within 5 s', async (_what, command) => {
    const { port, url } = await addressOf();
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
      // Where this fails, the machine is not left with them.
      for (const member of members.filter(isProcessAlive)) process.kill(member, 'SIGKILL');
    }
  });

  it('of its guard is its own end, and it is started again under another', async () => {
    const { port, url } = await addressOf();
    const run = supervised({ command: ['node', tinyAgent('guarded.mjs'), String(port)], url });
    await run.whenReady();
    const { pid = 0 } = run;
    const isReady = becomes(run, 'ready');
    process.kill(parentProcess(pid), 'SIGKILL');
    await isReady;
    expect(isProcessAlive(pid)).toBe(false);
    expect(run.restarts).toBe(1);
  });

  it('by exit code 0 is the end of looking after it', async () => {
    const { port, url } = await addressOf();
    const file = tinyAgent('polite.mjs', "process.on('SIGUSR2', () => process.exit(0));");
    const run = supervised({ command: ['node', file, String(port)], url });
    await run.whenReady();
    const isStopped = becomes(run, 'stopped');
    process.kill(run.pid ?? 0, 'SIGUSR2');
    await isStopped;
    await expect(run.whenReady()).rejects.toThrow('ended with exit code 0');
    expect(run.restarts).toBe(0);
  });
});

describe('the configuration of an agent', () => {
  it('is enough to start it and to call its skills, through a crash', async () => {
    const { port, url } = await addressOf();
    const text = `agent_name: echo
a2a_server_url: ${url}
a2a_server_command: node '${join(agents, 'sdk-0.3.mjs')}' ${port}
a2a_server_working_dir: ${folder}
`;
    const [config] = readBridgeConfig(text, join(folder, 'bridge.yaml'), {});
    const opened = openAgent(config as BridgeAgentConfig, {
      supervise: { reaperPath: inBuilt('guard.js'), minDelay: 20, stopTimeout: 200 },
    });
    // Nothing is ready yet; the bridge waits.
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
    // After the end, the answer says so.
    expect(opened.supervised.state).toBe('stopped');
    expect(await actions.invoke('echo/echo', { prompt: 'gone' })).toMatchObject({ success: false });
  });
});
