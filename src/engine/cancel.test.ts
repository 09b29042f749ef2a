import { describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  createDeferred,
  onlyTaskOf,
  reasonOf,
  statusTextOf,
  userRequest,
  statesOf,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import type { LogEntry, ProcessFunction } from './agent-definition.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';
import { status } from './agent-output.ts';

/** Begins a task and cancels it as soon as its agent works. */
async function cancelAtWork(
  process: (started: () => void) => ProcessFunction,
  log?: (entry: LogEntry) => void,
) {
  const started = createDeferred();
  const agent = defineAgent({ name: 'T', description: 'T', process: process(started.resolve) }, { log });
  const events = collectStream(agent.stream(userRequest('go')));
  await started.promise;
  const id = await onlyTaskOf(agent);
  const canceled = await agent.cancelTask({ id });
  return { agent, id, canceled, events: await events };
}

function echo(): LocalAgent {
  return defineAgent({ name: 'T', description: 'T', process: ({ text }) => text });
}

describe('canceling', () => {
  it('fires the signal and ends the task as canceled', async () => {
    let reason: unknown;
    const { canceled, events } = await cancelAtWork((started) => async ({ signal }) => {
      started();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ({ reason } = signal);
      return 'too late';
    });
    expect(canceled.status.state).toBe('canceled');
    expect(statesOf(events)).toEqual(['submitted', 'working', 'canceled']);
    expect(reason).toMatchObject({ reason: 'CANCELED' });
  });

  it('ends the task once, even if the agent does not listen', async () => {
    const ignorant = createDeferred();
    const over = createDeferred();
    const { agent, id, events } = await cancelAtWork(
      (started) =>
        async function* () {
          started();
          await ignorant.promise;
          try {
            yield 'not heard';
            yield status('completed', 'not heard either');
          } finally {
            over.resolve();
          }
        },
    );
    ignorant.resolve();
    await over.promise;
    const task = await agent.getTask({ id });
    expect(task.status.state).toBe('canceled');
    expect(artifactTexts(task)).toEqual([]);
    expect(statesOf(events).filter((state) => state === 'canceled')).toHaveLength(1);
  });

  it('does not hear a failure that comes afterwards', async () => {
    const late = createDeferred();
    const { agent, id } = await cancelAtWork((started) => async () => {
      started();
      await late.promise;
      throw new Error('late');
    });
    late.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await agent.getTask({ id })).status.state).toBe('canceled');
  });

  it('lets a generator that rests tidy up', async () => {
    const tidy = createDeferred();
    const { events } = await cancelAtWork(
      (started) =>
        async function* () {
          try {
            yield 'one';
            started();
            await new Promise(setImmediate);
            for (;;) {
              yield 'more';
              await new Promise(setImmediate);
            }
          } finally {
            tidy.resolve();
          }
        },
    );
    await tidy.promise;
    expect(statesOf(events).at(-1)).toBe('canceled');
  });

  it.each([
    [
      'at once',
      () => {
        throw new Error('while tidying');
      },
    ],
    ['later', () => Promise.reject(new Error('while tidying'))],
  ])('stands when the agent fails %s while it tidies up', async (_when, tidyUp) => {
    const entries: LogEntry[] = [];
    const { id, canceled } = await cancelAtWork(
      (started) => () => ({
        [Symbol.asyncIterator]: () => ({
          next() {
            started();
            return new Promise(() => {});
          },
          return: tidyUp,
        }),
      }),
      (entry) => entries.push(entry),
    );
    expect(canceled.status.state).toBe('canceled');
    expect(entries).toMatchObject([{ level: 'warn', taskId: id, error: { message: 'while tidying' } }]);
  });

  it('gives the same task twice', async () => {
    const { agent, id, canceled } = await cancelAtWork((started) => () => {
      started();
      return new Promise(() => {});
    });
    expect(await agent.cancelTask({ id })).toBe(canceled);
  });

  it('answers whoever waits', async () => {
    const started = createDeferred();
    const agent = defineAgent({
      name: 'T',
      description: 'T',
      process: () => {
        started.resolve();
        return new Promise(() => {});
      },
    });
    const waiting = agent.send(userRequest('go'));
    await started.promise;
    const id = await onlyTaskOf(agent);
    await agent.cancelTask({ id });
    expect(expectTask(await waiting).status.state).toBe('canceled');
  });

  it('refuses what is finished and what is not there', async () => {
    const agent = echo();
    const { id } = expectTask(await agent.send(userRequest('hi')));
    expect(await reasonOf(agent.cancelTask({ id }))).toBe('TASK_NOT_CANCELABLE');
    expect(await reasonOf(agent.cancelTask({ id: 'nothing' }))).toBe('TASK_NOT_FOUND');
  });

  it('ends a task that waits for its caller, and its question', async () => {
    let answered: unknown;
    const over = createDeferred();
    const asking = defineAgent({
      name: 'T',
      description: 'T',
      async process(context) {
        answered = await reasonOf(context.ask('which?'));
        over.resolve();
      },
    });
    const { id } = expectTask(await asking.send(userRequest('go')));
    expect((await asking.cancelTask({ id })).status.state).toBe('canceled');
    await over.promise;
    expect(answered).toBe('CANCELED');
  });

  it('ends a task that nobody runs any more', async () => {
    const agent = defineAgent({
      name: 'T',
      description: 'T',
      process: () => status('input-required', 'which?'),
    });
    const task = expectTask(await agent.send(userRequest('go')));
    expect(statusTextOf(task)).toBe('which?');
    const canceled = await agent.cancelTask({ id: task.id });
    expect(canceled.status.state).toBe('canceled');
    expect(canceled.history?.map(({ role }) => role)).toEqual(['user', 'agent']);
  });
});

describe('leaving', () => {
  it('ends the following of a stream and not the task', async () => {
    const go = createDeferred();
    const agent = defineAgent({
      name: 'T',
      description: 'T',
      async *process() {
        yield 'one';
        await go.promise;
        yield 'two';
      },
    });
    let id = '';
    for await (const event of agent.stream(userRequest('go'))) {
      if (event.kind === 'task') ({ id } = event.task);
      if (event.kind === 'artifact') break;
    }
    const rest = collectStream(agent.subscribe({ id }));
    go.resolve();
    expect(statesOf(await rest)).toEqual(['working', 'completed']);
    expect(artifactTexts(await agent.getTask({ id }))).toEqual(['onetwo']);
  });
});
