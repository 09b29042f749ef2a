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

/** Starts a task and cancels it as soon as the process function runs. */
async function cancelWhileRunning(
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

describe('cancelTask', () => {
  it('aborts the signal and sets the state canceled', async () => {
    let reason: unknown;
    const { canceled, events } = await cancelWhileRunning((started) => async ({ signal }) => {
      started();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ({ reason } = signal);
      return 'too late';
    });
    expect(canceled.status.state).toBe('canceled');
    expect(statesOf(events)).toEqual(['submitted', 'working', 'canceled']);
    expect(reason).toMatchObject({ reason: 'CANCELED' });
  });

  it('ignores later output of an agent that does not observe the signal', async () => {
    const ignorant = createDeferred();
    const over = createDeferred();
    const { agent, id, events } = await cancelWhileRunning(
      (started) =>
        async function* () {
          started();
          await ignorant.promise;
          try {
            yield 'ignored';
            yield status('completed', 'also ignored');
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

  it('ignores a later failure of the agent', async () => {
    const late = createDeferred();
    const { agent, id } = await cancelWhileRunning((started) => async () => {
      started();
      await late.promise;
      throw new Error('late');
    });
    late.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect((await agent.getTask({ id })).status.state).toBe('canceled');
  });

  it('runs the finally block of a suspended generator', async () => {
    const cleanedUp = createDeferred();
    const { events } = await cancelWhileRunning(
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
            cleanedUp.resolve();
          }
        },
    );
    await cleanedUp.promise;
    expect(statesOf(events).at(-1)).toBe('canceled');
  });

  it.each([
    [
      'at once',
      () => {
        throw new Error('cleanup failed');
      },
    ],
    ['later', () => Promise.reject(new Error('cleanup failed'))],
  ])('stays canceled when the cleanup of the agent fails %s', async (_when, cleanUp) => {
    const entries: LogEntry[] = [];
    const { id, canceled } = await cancelWhileRunning(
      (started) => () => ({
        [Symbol.asyncIterator]: () => ({
          next() {
            started();
            return new Promise(() => {});
          },
          return: cleanUp,
        }),
      }),
      (entry) => entries.push(entry),
    );
    expect(canceled.status.state).toBe('canceled');
    expect(entries).toMatchObject([{ level: 'error', taskId: id, error: { message: 'cleanup failed' } }]);
  });

  it('returns the canceled task again for a repeated cancellation', async () => {
    const { agent, id, canceled } = await cancelWhileRunning((started) => () => {
      started();
      return new Promise(() => {});
    });
    expect(await agent.cancelTask({ id })).toEqual(canceled);
  });

  it('ends waiting sends and streams', async () => {
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

  it('rejects finished and unknown tasks', async () => {
    const agent = echo();
    const { id } = expectTask(await agent.send(userRequest('hi')));
    expect(await reasonOf(agent.cancelTask({ id }))).toBe('TASK_NOT_CANCELABLE');
    expect(await reasonOf(agent.cancelTask({ id: 'nothing' }))).toBe('TASK_NOT_FOUND');
  });

  it('cancels an input-required task and rejects its pending question', async () => {
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

  it('cancels a task without a run', async () => {
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

describe('closing a stream', () => {
  it('does not cancel the task', async () => {
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
