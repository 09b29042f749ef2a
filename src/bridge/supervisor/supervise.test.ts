import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ProcessExit, ProcessHandlers } from './launch-process.ts';
import type { SuperviseOptions } from './supervise-options.ts';
import { type SupervisedState, supervise } from './supervise.ts';

const url = 'http://localhost:4000';
const crash: ProcessExit = { code: 1, signal: null };

/** A supervisor with simulated processes and a manual clock. */
function arrange(options: Partial<SuperviseOptions> = {}) {
  const clock = new ManualClock();
  const fixture = {
    clock,
    isResponding: true,
    launched: [] as { handlers: ProcessHandlers; end: (exit: ProcessExit) => void; stops: number[] }[],
    logged: [] as string[],
  };
  const isRunning = () => fixture.launched.some(({ end }) => live.has(end));
  const live = new Set<unknown>();
  const supervised = supervise({
    url,
    command: 'agent --now',
    clock,
    probe: async () => {
      if (!fixture.isResponding || !isRunning()) throw new A2AError('UNAVAILABLE', 'connection refused');
    },
    launch: (program, handlers) => {
      expect(program.argv).toEqual(['agent', '--now']);
      let end: (exit: ProcessExit) => void = () => {};
      const stops: number[] = [];
      const ended = new Promise<ProcessExit>((resolve) => {
        end = (exit) => {
          live.delete(end);
          resolve(exit);
        };
      });
      live.add(end);
      fixture.launched.push({ handlers, end, stops });
      handlers.onStart(fixture.launched.length);
      return {
        ended,
        stop: (stopTimeout) => {
          stops.push(stopTimeout);
          end({ code: null, signal: 'SIGTERM' });
        },
      };
    },
    log: ({ message }) => fixture.logged.push(message),
    ...options,
  });
  const becomes = (wanted: SupervisedState) =>
    new Promise<void>((resolve) => {
      const stop = supervised.onState((state) => {
        if (state === wanted) resolve(stop());
      });
    });
  /** Ends the newest process, advances the clock by the delay and waits until it is ready again. */
  const restarted = async (exit: ProcessExit, delay: number) => {
    const isRestarting = becomes('restarting');
    fixture.launched.at(-1)?.end(exit);
    await isRestarting;
    const isReady = becomes('ready');
    await Promise.resolve();
    clock.advance(delay);
    await isReady;
  };
  return Object.assign(fixture, { supervised, becomes, restarted });
}

describe('supervise', () => {
  it('becomes ready when the agent responds, and probes with exponential backoff until then', async () => {
    const { supervised } = arrange();
    expect(supervised.state).toBe('starting');
    await supervised.whenReady();
    expect(supervised).toMatchObject({ state: 'ready', pid: 1, restarts: 0, error: undefined });

    const slow = arrange({ startupTimeout: 5000 });
    slow.isResponding = false;
    for (const delay of [50, 100, 200, 400, 800, 1000, 1000]) {
      await slow.clock.waitForDelay((delay) => delay === delay);
      slow.clock.advance(delay);
    }
    await slow.clock.waitForDelay((delay) => delay === 1000);
    slow.isResponding = true;
    slow.clock.advance(1000);
    await slow.supervised.whenReady();
    expect(slow.clock.pending).toBe(0);
  });

  it('fails when the agent does not respond within startupTimeout', async () => {
    const fixture = arrange({ startupTimeout: 100, stopTimeout: 7 });
    fixture.isResponding = false;
    await fixture.clock.waitForDelay((delay) => delay === 50);
    fixture.launched[0]?.handlers.onOutput('stderr', 'loading\nstill loading\n');
    fixture.clock.advance(100);
    await expect(fixture.supervised.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} did not respond within 0.1 s: connection refused`,
      hint: 'Last output:\nloading\nstill loading',
    });
    expect(fixture.launched[0]?.stops).toEqual([7]);
    expect(fixture.supervised.state).toBe('failed');
  });

  it('restarts with exponential backoff and fails after maxRestarts', async () => {
    const { supervised, restarted, launched, becomes, logged } = arrange({
      minDelay: 100,
      maxDelay: 500,
      maxRestarts: 4,
    });
    await supervised.whenReady();
    for (const delay of [100, 200, 400, 500]) await restarted(crash, delay);
    expect(supervised).toMatchObject({ restarts: 4, pid: 5 });
    const hasFailed = becomes('failed');
    launched.at(-1)?.end({ code: null, signal: 'SIGSEGV' });
    await hasFailed;
    await expect(supervised.whenReady()).rejects.toThrow(
      `The agent at ${url} was terminated by SIGSEGV; gave up after 4 consecutive restarts`,
    );
    expect(launched.length).toBe(5);
    expect(logged).toContain(`The agent at ${url} exited with code 1; restarting in 0.4 s (3 of 4)`);
  });

  it('resets the restart count after healthyAfter', async () => {
    const { supervised, restarted, clock } = arrange({ minDelay: 100, maxRestarts: 2, healthyAfter: 60_000 });
    await supervised.whenReady();
    await restarted(crash, 100);
    await restarted(crash, 200);
    clock.advance(60_000);
    await restarted(crash, 100);
    await restarted(crash, 200);
    expect(supervised.restarts).toBe(4);
  });

  it('does not restart an agent that was never ready, or with restartOnCrash: false', async () => {
    const never = arrange();
    never.isResponding = false;
    await never.clock.waitForDelay((delay) => delay === 50);
    never.launched[0]?.end(crash);
    await expect(never.supervised.whenReady()).rejects.toThrow('exited with code 1 before it was ready');
    expect(never.launched.length).toBe(1);

    const noRestart = arrange({ restartOnCrash: false });
    await noRestart.supervised.whenReady();
    const hasFailed = noRestart.becomes('failed');
    noRestart.launched[0]?.end(crash);
    await hasFailed;
    expect(noRestart.supervised.pid).toBeUndefined();
  });

  it('restarts after exit code 0 only with restartOnExit', async () => {
    const done = arrange();
    await done.supervised.whenReady();
    const isStopped = done.becomes('stopped');
    done.launched[0]?.end({ code: 0, signal: null });
    await isStopped;
    await expect(done.supervised.whenReady()).rejects.toThrow('exited with code 0');

    const restarting = arrange({ restartOnExit: true, minDelay: 100 });
    await restarting.supervised.whenReady();
    await restarting.restarted({ code: 0, signal: null }, 100);
    expect(restarting.launched.length).toBe(2);
  });

  it('counts a restart after which the agent does not respond', async () => {
    const fixture = arrange({ minDelay: 100, maxRestarts: 1, startupTimeout: 60 });
    await fixture.supervised.whenReady();
    fixture.isResponding = false;
    const isRestarting = fixture.becomes('restarting');
    fixture.launched[0]?.end(crash);
    await isRestarting;
    const hasFailed = fixture.becomes('failed');
    const isAsked = fixture.clock.waitForDelay((delay) => delay === 50);
    await Promise.resolve();
    fixture.clock.advance(100);
    await isAsked;
    expect(fixture.supervised.state).toBe('restarting');
    fixture.clock.advance(60);
    await hasFailed;
    expect(fixture.launched.length).toBe(2);
    expect(fixture.supervised.error?.message).toMatch(
      /did not respond within 0.06 s.*gave up after 1 consecutive restarts$/,
    );
  });

  it('waits until another agent at the same URL has ended, and fails if it does not', async () => {
    let isThere = true;
    const { supervised, clock, launched } = arrange({
      probe: async () => {
        if (!isThere) throw new A2AError('UNAVAILABLE', 'connection refused');
      },
    });
    // An agent of an earlier run ends after a while.
    await clock.waitForDelay((delay) => delay === 250);
    expect(launched.length).toBe(0);
    isThere = false;
    clock.advance(250);
    await clock.waitForDelay((delay) => delay === 50);
    isThere = true;
    clock.advance(50);
    await supervised.whenReady();
    expect(launched.length).toBe(1);

    const stuck = arrange({ probe: async () => {} });
    await stuck.clock.waitForDelay((delay) => delay === 250);
    stuck.clock.advance(5000);
    await expect(stuck.supervised.whenReady()).rejects.toMatchObject({
      message: `Another agent is already running at ${url}`,
      hint: expect.stringMatching(/Stop it/) as string,
    });
    expect(stuck.launched.length).toBe(0);
  });

  it('stops the process in every state', async () => {
    const early = arrange();
    await early.supervised.stop();
    expect(early.supervised.state).toBe('stopped');
    expect(early.launched.length).toBe(0);

    const delayed = arrange();
    await delayed.supervised.whenReady();
    const isRestarting = delayed.becomes('restarting');
    delayed.launched[0]?.end(crash);
    await isRestarting;
    await delayed.supervised.stop();
    await delayed.supervised.stop();
    expect(delayed.supervised.state).toBe('stopped');
    expect(delayed.launched.length).toBe(1);
    expect(delayed.clock.pending).toBe(0);

    const running = arrange({ stopTimeout: 1234 });
    await running.supervised.whenReady();
    await running.supervised[Symbol.asyncDispose]();
    expect(running.launched[0]?.stops).toEqual([1234]);
    await expect(running.supervised.whenReady()).rejects.toThrow('was stopped');

    const starting = arrange();
    starting.isResponding = false;
    await starting.clock.waitForDelay((delay) => delay === 50);
    await starting.supervised.stop();
    expect(starting.supervised.state).toBe('stopped');
    expect(starting.clock.pending).toBe(0);
  });

  it('rejects whenReady with CANCELED when its signal aborts', async () => {
    const fixture = arrange();
    fixture.isResponding = false;
    const controller = new AbortController();
    const waiting = fixture.supervised.whenReady(controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELED' });
    await fixture.supervised.stop();
  });

  it('rejects invalid options', () => {
    expect(() => supervise({ url: 'localhost:4000' })).toThrow(/url must be an absolute URL/);
    expect(() => supervise({ url, command: [] })).toThrow(/command must name a program/);
    expect(() => supervise({ url, startupTimeout: 0 })).toThrow(/startupTimeout must be more than 0/);
  });

  it('fails when the working directory or the environment file does not exist', async () => {
    const nowhere = arrange({ workingDir: '/no/such/folder' });
    await expect(nowhere.supervised.whenReady()).rejects.toThrow(/workingDir must be a directory/);
    const unread = arrange({ envFile: '/no/such/file' });
    await expect(unread.supervised.whenReady()).rejects.toThrow(
      /Cannot read the environment file \/no\/such\/file/,
    );
  });
});
