import { describe, expect, it } from 'vitest';
import {
  createDeferred,
  statusTextOf,
  userRequest,
  SteppedClock,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import { lintStream } from '../protocol/lint-stream.ts';
import type { AgentOptions, ProcessFunction } from './agent-definition.ts';
import { defineAgent } from './local-agent.ts';

/** An agent that blocks until it is released, and a stopped clock. */
function stuck(options: AgentOptions, process?: (go: Promise<void>) => ProcessFunction) {
  const clock = new SteppedClock();
  const go = createDeferred();
  const agent = defineAgent(
    { name: 'T', description: 'T', process: process?.(go.promise) ?? (() => go.promise) },
    { clock, ...options },
  );
  return { agent, clock, go };
}

describe('idleTimeout', () => {
  it('fails a task without output, and logs it', async () => {
    const logged: string[] = [];
    const log = ({ message }: { message: string }) => logged.push(message);
    const { agent, clock } = stuck({ idleTimeout: 60_000, log });
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(59_999);
    expect((await agent.listTasks({})).tasks[0]?.status.state).toBe('working');
    clock.step(1);
    const task = expectTask(await sent);
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toBe('The agent produced no output for 60 s.');
    expect(logged).toEqual(['The agent produced no output for 60 s.']);
  });

  it('defaults to 15 minutes', async () => {
    const { agent, clock } = stuck({});
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(15 * 60_000);
    expect(expectTask(await sent).status.state).toBe('failed');
  });

  it('aborts the signal of an idle process', async () => {
    const aborted = createDeferred();
    const { agent, clock } = stuck({ idleTimeout: 1_000 }, () => async ({ signal }) => {
      signal.addEventListener('abort', aborted.resolve);
      await aborted.promise;
    });
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(1_000);
    await aborted.promise;
    expect(expectTask(await sent).status.state).toBe('failed');
  });

  it('restarts with every output', async () => {
    const steps = [createDeferred(), createDeferred(), createDeferred()];
    const yielded = [createDeferred(), createDeferred(), createDeferred()];
    const { agent, clock } = stuck(
      { idleTimeout: 1_000 },
      () =>
        async function* () {
          for (const [i, step] of steps.entries()) {
            await step.promise;
            yield `${i}`;
            yielded[i]?.resolve();
          }
        },
    );
    const sent = agent.send(userRequest('hi'));
    for (const [i, step] of steps.entries()) {
      await new Promise(setImmediate);
      clock.step(900);
      step.resolve();
      if (i < 2) await yielded[i]?.promise;
    }
    expect(expectTask(await sent).status.state).toBe('completed');
  });

  it.each([3_600_000, -3_600_000])('ignores a change of the wall clock by %i ms', async (step) => {
    const { agent, clock } = stuck({ idleTimeout: 60_000, deadline: 600_000 });
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.offset = step;
    clock.step(59_999);
    expect((await agent.listTasks({})).tasks[0]?.status.state).toBe('working');
    clock.step(1);
    expect(statusTextOf(expectTask(await sent))).toBe('The agent produced no output for 60 s.');
  });

  it('never expires with 0', async () => {
    const { agent, clock, go } = stuck({ idleTimeout: 0 });
    expect(clock.hasTimers).toBe(false);
    const sent = agent.send(userRequest('hi'));
    clock.step(1e9);
    go.resolve();
    expect(expectTask(await sent).status.state).toBe('completed');
  });
});

describe('deadline', () => {
  it('fails a task despite recent output', async () => {
    const step = createDeferred();
    const { agent, clock } = stuck(
      { deadline: 10_000, idleTimeout: 0 },
      (go) =>
        async function* () {
          yield 'begun';
          step.resolve();
          await go;
        },
    );
    const sent = agent.send(userRequest('hi'));
    await step.promise;
    clock.step(9_999);
    expect((await agent.listTasks({ status: 'working' })).tasks).toHaveLength(1);
    clock.step(1);
    const task = expectTask(await sent);
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toBe('The agent did not finish within 10 s.');
  });

  it('pauses while the task waits for input and restarts with the answer', async () => {
    const { agent, clock } = stuck({ deadline: 10_000, idleTimeout: 10_000 }, (go) => async (context) => {
      await context.ask('Which?');
      await go;
    });
    const { id } = expectTask(await agent.send(userRequest('hi')));
    clock.step(1e9);
    expect((await agent.getTask({ id })).status.state).toBe('input-required');
    const sent = agent.send(userRequest('L', { taskId: id }));
    await new Promise(setImmediate);
    clock.step(9_999);
    expect((await agent.getTask({ id })).status.state).toBe('working');
    clock.step(1);
    expect(expectTask(await sent).status.state).toBe('failed');
  });
});

it('timestamps never decrease', async () => {
  const clock = new SteppedClock();
  const agent = defineAgent(
    {
      name: 'T',
      description: 'T',
      *process() {
        clock.step(-60_000);
        yield { state: 'working' };
        clock.step(61_000);
      },
    },
    { clock },
  );
  const events = [];
  for await (const event of agent.stream(userRequest('hi'))) events.push(event);
  expect(lintStream(events)).toEqual([]);
});

it('close() stops the watchdog timer', async () => {
  const { agent, clock } = stuck({});
  const sent = agent.send(userRequest('hi'));
  expect(clock.hasTimers).toBe(true);
  await agent.close();
  expect(clock.hasTimers).toBe(false);
  expect(expectTask(await sent).status.state).toBe('failed');
});
