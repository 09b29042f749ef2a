import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ProcessExit, ProcessHandlers } from './launch-process.ts';
import type { SuperviseOptions } from './supervise-options.ts';
import { type SupervisedState, supervise } from './supervise.ts';

const url = 'http://localhost:4000';
const crash: ProcessExit = { code: 1, signal: null };

/** A supervisor whose processes and time are in our hands. */
function stage(options: Partial<SuperviseOptions> = {}) {
  const clock = new ManualClock();
  const stage = {
    clock,
    answers: true,
    launched: [] as { heard: ProcessHandlers; end: (ending: ProcessExit) => void; stops: number[] }[],
    logged: [] as string[],
    asked: 0,
  };
  const isRunning = () => stage.launched.some(({ end }) => live.has(end));
  const live = new Set<unknown>();
  const supervised = supervise({
    url,
    command: 'agent --now',
    clock,
    probe: async () => {
      stage.asked++;
      if (!stage.answers || !isRunning()) throw new A2AError('UNAVAILABLE', 'nobody is there');
    },
    launch: (program, heard) => {
      expect(program.argv).toEqual(['agent', '--now']);
      let end: (ending: ProcessExit) => void = () => {};
      const stops: number[] = [];
      const ended = new Promise<ProcessExit>((resolve) => {
        end = (ending) => {
          live.delete(end);
          resolve(ending);
        };
      });
      live.add(end);
      stage.launched.push({ heard, end, stops });
      heard.started(stage.launched.length);
      return {
        ended,
        stop: (grace) => {
          stops.push(grace);
          end({ code: null, signal: 'SIGTERM' });
        },
      };
    },
    log: ({ message }) => stage.logged.push(message),
    ...options,
  });
  const becomes = (wanted: SupervisedState) =>
    new Promise<void>((resolve) => {
      const stop = supervised.onState((state) => {
        if (state === wanted) resolve(stop());
      });
    });
  /** Ends the newest process and lets the pause pass, until it is ready again. */
  const restarted = async (ending: ProcessExit, pause: number) => {
    const isRestarting = becomes('restarting');
    stage.launched.at(-1)?.end(ending);
    await isRestarting;
    const isReady = becomes('ready');
    await Promise.resolve();
    clock.advance(pause);
    await isReady;
  };
  return Object.assign(stage, { supervised, becomes, restarted });
}

describe('an agent that is looked after', () => {
  it('is ready when it answers, and is asked less and less often until then', async () => {
    const { supervised } = stage();
    expect(supervised.state).toBe('starting');
    await supervised.whenReady();
    expect(supervised).toMatchObject({ state: 'ready', pid: 1, restarts: 0, error: undefined });

    const slow = stage({ startupTimeout: 5000 });
    slow.answers = false;
    for (const pause of [50, 100, 200, 400, 800, 1000, 1000]) {
      await slow.clock.waitForDelay((delay) => delay === pause);
      slow.clock.advance(pause);
    }
    await slow.clock.waitForDelay((delay) => delay === 1000);
    slow.answers = true;
    slow.clock.advance(1000);
    await slow.supervised.whenReady();
    expect(slow.clock.pending).toBe(0);
  });

  it('fails when it does not answer in time', async () => {
    const on = stage({ startupTimeout: 100, stopTimeout: 7 });
    on.answers = false;
    await on.clock.waitForDelay((delay) => delay === 50);
    on.launched[0]?.heard.printed('stderr', 'loading\nstill loading\n');
    on.clock.advance(100);
    await expect(on.supervised.whenReady()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent at ${url} did not answer within 0.1 s: nobody is there`,
      hint: 'It printed last:\nloading\nstill loading',
    });
    expect(on.launched[0]?.stops).toEqual([7]);
    expect(on.supervised.state).toBe('failed');
  });

  it('is started again after pauses that grow, up to a limit', async () => {
    const { supervised, restarted, launched, becomes, logged } = stage({
      minDelay: 100,
      maxDelay: 500,
      maxRestarts: 4,
    });
    await supervised.whenReady();
    for (const pause of [100, 200, 400, 500]) await restarted(crash, pause);
    expect(supervised).toMatchObject({ restarts: 4, pid: 5 });
    const hasFailed = becomes('failed');
    launched.at(-1)?.end({ code: null, signal: 'SIGSEGV' });
    await hasFailed;
    await expect(supervised.whenReady()).rejects.toThrow(
      `The agent at ${url} ended by SIGSEGV; it was started again 4 times in a row and is given up`,
    );
    expect(launched.length).toBe(5);
    expect(logged).toContain(
      `The agent at ${url} ended with exit code 1; it is started again in 0.4 s (3 of 4)`,
    );
  });

  it('is forgiven its crashes once it ran well for a while', async () => {
    const { supervised, restarted, clock } = stage({ minDelay: 100, maxRestarts: 2, healthyAfter: 60_000 });
    await supervised.whenReady();
    await restarted(crash, 100);
    await restarted(crash, 200);
    clock.advance(60_000);
    await restarted(crash, 100);
    await restarted(crash, 200);
    expect(supervised.restarts).toBe(4);
  });

  it('is not started again when it never ran, or when nobody wants that', async () => {
    const never = stage();
    never.answers = false;
    await never.clock.waitForDelay((delay) => delay === 50);
    never.launched[0]?.end(crash);
    await expect(never.supervised.whenReady()).rejects.toThrow('exit code 1 before it was ready');
    expect(never.launched.length).toBe(1);

    const unwanted = stage({ restartOnCrash: false });
    await unwanted.supervised.whenReady();
    const hasFailed = unwanted.becomes('failed');
    unwanted.launched[0]?.end(crash);
    await hasFailed;
    expect(unwanted.supervised.pid).toBeUndefined();
  });

  it('is not started again when it ended well, except on request', async () => {
    const done = stage();
    await done.supervised.whenReady();
    const isStopped = done.becomes('stopped');
    done.launched[0]?.end({ code: 0, signal: null });
    await isStopped;
    await expect(done.supervised.whenReady()).rejects.toThrow('ended with exit code 0');

    const again = stage({ restartOnExit: true, minDelay: 100 });
    await again.supervised.whenReady();
    await again.restarted({ code: 0, signal: null }, 100);
    expect(again.launched.length).toBe(2);
  });

  it('is waited for again after each restart, and one that does not come back counts', async () => {
    const on = stage({ minDelay: 100, maxRestarts: 1, startupTimeout: 60 });
    await on.supervised.whenReady();
    on.answers = false;
    const isRestarting = on.becomes('restarting');
    on.launched[0]?.end(crash);
    await isRestarting;
    const hasFailed = on.becomes('failed');
    const isAsked = on.clock.waitForDelay((delay) => delay === 50);
    await Promise.resolve();
    on.clock.advance(100);
    await isAsked;
    expect(on.supervised.state).toBe('restarting');
    on.clock.advance(60);
    await hasFailed;
    expect(on.launched.length).toBe(2);
    expect(on.supervised.error?.message).toMatch(/did not answer within 0.06 s.*given up$/);
  });

  it('is not confused with another that answers at its address', async () => {
    let isThere = true;
    const { supervised, clock, launched } = stage({
      probe: async () => {
        if (!isThere) throw new A2AError('UNAVAILABLE', 'nobody is there');
      },
    });
    // One of an earlier run goes after a while.
    await clock.waitForDelay((delay) => delay === 250);
    expect(launched.length).toBe(0);
    isThere = false;
    clock.advance(250);
    await clock.waitForDelay((delay) => delay === 50);
    isThere = true;
    clock.advance(50);
    await supervised.whenReady();
    expect(launched.length).toBe(1);

    const stuck = stage({ probe: async () => {} });
    await stuck.clock.waitForDelay((delay) => delay === 250);
    stuck.clock.advance(5000);
    await expect(stuck.supervised.whenReady()).rejects.toMatchObject({
      message: `Another agent answers at ${url} already`,
      hint: expect.stringMatching(/Stop it/) as string,
    });
    expect(stuck.launched.length).toBe(0);
  });

  it('is stopped at any time', async () => {
    const early = stage();
    await early.supervised.stop();
    expect(early.supervised.state).toBe('stopped');
    expect(early.launched.length).toBe(0);

    const pausing = stage();
    await pausing.supervised.whenReady();
    const isRestarting = pausing.becomes('restarting');
    pausing.launched[0]?.end(crash);
    await isRestarting;
    await pausing.supervised.stop();
    await pausing.supervised.stop();
    expect(pausing.supervised.state).toBe('stopped');
    expect(pausing.launched.length).toBe(1);
    expect(pausing.clock.pending).toBe(0);

    const running = stage({ stopTimeout: 1234 });
    await running.supervised.whenReady();
    await running.supervised[Symbol.asyncDispose]();
    expect(running.launched[0]?.stops).toEqual([1234]);
    await expect(running.supervised.whenReady()).rejects.toThrow('was stopped');

    const starting = stage();
    starting.answers = false;
    await starting.clock.waitForDelay((delay) => delay === 50);
    await starting.supervised.stop();
    expect(starting.supervised.state).toBe('stopped');
    expect(starting.clock.pending).toBe(0);
  });

  it('may be waited for as long as one likes', async () => {
    const on = stage();
    on.answers = false;
    const gaveUp = new AbortController();
    const waiting = on.supervised.whenReady(gaveUp.signal);
    gaveUp.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELED' });
    await on.supervised.stop();
  });

  it('has options that make sense', () => {
    expect(() => supervise({ url: 'localhost:4000' })).toThrow(/url must be a whole address/);
    expect(() => supervise({ url, command: [] })).toThrow(/command names no program/);
    expect(() => supervise({ url, startupTimeout: 0 })).toThrow(/startupTimeout must be more than 0/);
  });

  it('fails with the reason when its surroundings are not there', async () => {
    const nowhere = stage({ workingDir: '/no/such/folder' });
    await expect(nowhere.supervised.whenReady()).rejects.toThrow(/workingDir must be a directory/);
    const unread = stage({ envFile: '/no/such/file' });
    await expect(unread.supervised.whenReady()).rejects.toThrow(/\/no\/such\/file cannot be read/);
  });
});
