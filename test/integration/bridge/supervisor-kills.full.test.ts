/** Kills of supervised agents, of their process groups, of the orphan reaper and of the supervisor. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { supervisedAgent } from '../../../src/bridge/supervisor/supervised-agent.ts';
import { connect } from '../../../src/client/connect.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { repositoryRoot, runNode } from '../../support/cli/run-command.ts';
import { isProcessAlive, parentProcess, processGroup } from '../../support/process/processes.ts';
import { agents, becomes, freeAddress, useSupervisor } from './supervisor-scene.ts';

const { inBuilt, start, writeAgent } = useSupervisor();

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
  ])('is reaped after SIGKILL of the supervisor: %s', async (_what, command) => {
    const { port, url } = await freeAddress();
    const fixture = join(repositoryRoot, 'test/integration/fixtures/supervising.mjs');
    const module = pathToFileURL(inBuilt('supervise.js')).href;
    const bridge = runNode([fixture, module, command(port), url]);
    const [, pid] = await bridge.prints(/^ready (\d+)\n/);
    const members = processGroup(Number(pid));
    expect(members).toContain(Number(pid));
    await bridge.stop('SIGKILL');
    try {
      await expect.poll(() => members.filter(isProcessAlive)).toEqual([]);
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
