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

/** An agent that stops until it is let go on, and a clock that stands still. */
function stuck(options: AgentOptions, process?: (go: Promise<void>) => ProcessFunction) {
  const clock = new SteppedClock();
  const go = createDeferred();
  const agent = defineAgent(
    { name: 'T', description: 'T', process: process?.(go.promise) ?? (() => go.promise) },
    { clock, ...options },
  );
  return { agent, clock, go };
}

describe('a silent agent', () => {
  it('is given up after a while', async () => {
    const { agent, clock } = stuck({ idleTimeout: 60_000 });
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(59_999);
    expect((await agent.listTasks({})).tasks[0]?.status.state).toBe('working');
    clock.step(1);
    const task = expectTask(await sent);
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toBe('The agent gave no sign of life for 60 s.');
  });

  it('is given up after a quarter of an hour unless somebody says otherwise', async () => {
    const { agent, clock } = stuck({});
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(15 * 60_000);
    expect(expectTask(await sent).status.state).toBe('failed');
  });

  it('is told to stop', async () => {
    const told = createDeferred();
    const { agent, clock } = stuck({ idleTimeout: 1_000 }, () => async ({ signal }) => {
      signal.addEventListener('abort', told.resolve);
      await told.promise;
    });
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    clock.step(1_000);
    await told.promise;
    expect(expectTask(await sent).status.state).toBe('failed');
  });

  it('is not silent while it yields', async () => {
    const steps = [createDeferred(), createDeferred(), createDeferred()];
    const seen = [createDeferred(), createDeferred(), createDeferred()];
    const { agent, clock } = stuck(
      { idleTimeout: 1_000 },
      () =>
        async function* () {
          for (const [i, step] of steps.entries()) {
            await step.promise;
            yield `${i}`;
            seen[i]?.resolve();
          }
        },
    );
    const sent = agent.send(userRequest('hi'));
    for (const [i, step] of steps.entries()) {
      await new Promise(setImmediate);
      clock.step(900);
      step.resolve();
      if (i < 2) await seen[i]?.promise;
    }
    expect(expectTask(await sent).status.state).toBe('completed');
  });

  it('may take its time for ever when nobody minds', async () => {
    const { agent, clock, go } = stuck({ idleTimeout: 0 });
    expect(clock.hasTimers).toBe(false);
    const sent = agent.send(userRequest('hi'));
    clock.step(1e9);
    go.resolve();
    expect(expectTask(await sent).status.state).toBe('completed');
  });
});

describe('a deadline', () => {
  it('ends even an agent that gives signs of life', async () => {
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

  it('does not run while the caller thinks, and begins anew with the answer', async () => {
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

it('never writes a time that goes back', async () => {
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

it('stops its clock when it is closed', async () => {
  const { agent, clock } = stuck({});
  expect(clock.hasTimers).toBe(true);
  await agent.close();
  expect(clock.hasTimers).toBe(false);
});
