import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  type Deferred,
  createDeferred,
  reasonOf,
  userRequest,
  expectTask,
} from '../../test/support/engine/conversation.ts';
import type { TaskStore } from '../store/task-store.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import { sqliteTaskStore } from '../store/sqlite.ts';
import { textOf } from '../protocol/part.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';

const immediately = { configuration: { returnImmediately: true } };

describe.each<[string, () => Promise<TaskStore>]>([
  ['memory', async () => memoryTaskStore()],
  ['SQLite', () => sqliteTaskStore({ file: ':memory:' })],
])('message deduplication with %s', (_where, open) => {
  let taskStore: TaskStore;
  let agent: LocalAgent;
  let runs: string[];
  let go: Deferred;

  beforeEach(async () => {
    taskStore = await open();
    runs = [];
    go = createDeferred();
    agent = defineAgent(
      {
        name: 'T',
        description: 'T',
        async *process(context) {
          runs.push(context.text);
          if (context.text === 'slow') await go.promise;
          if (context.text === 'ask') {
            const answer = textOf((await context.ask('Which?')).parts);
            runs.push(answer);
            if (answer === 'slow') await go.promise;
            yield answer;
          } else yield context.text;
        },
      },
      { taskStore: taskStore },
    );
  });

  afterEach(async () => {
    await agent.close();
    await taskStore[Symbol.asyncDispose]();
  });

  it('runs a resent message once', async () => {
    const first = expectTask(await agent.send(userRequest('hi', { messageId: 'm' })));
    expect(await agent.send(userRequest('hi', { messageId: 'm' }))).toEqual(first);
    expect(runs).toEqual(['hi']);
  });

  it('runs two concurrent sends of the same message once', async () => {
    const [first, second] = await Promise.all([
      agent.send(userRequest('hi', { messageId: 'm' })),
      agent.send(userRequest('hi', { messageId: 'm' })),
    ]);
    expect(second).toEqual(first);
    expect(runs).toEqual(['hi']);
  });

  it('returns the same result to a resend during the run', async () => {
    const working = expectTask(await agent.send(userRequest('slow', { messageId: 'm' }, immediately)));
    const again = agent.send(userRequest('slow', { messageId: 'm' }));
    const streamed = collectStream(agent.stream(userRequest('slow', { messageId: 'm' })));
    const now = expectTask(await agent.send(userRequest('slow', { messageId: 'm' }, immediately)));
    expect(now).toMatchObject({ id: working.id, status: { state: 'working' } });
    go.resolve();
    expect(expectTask(await again)).toMatchObject({ id: working.id, status: { state: 'completed' } });
    expect((await streamed).map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'status']);
    expect(runs).toEqual(['slow']);
  });

  it('streams the same events to a resend', async () => {
    const first = await collectStream(agent.stream(userRequest('hi', { messageId: 'm' })));
    const kinds = first.map(({ kind, sequence }) => [kind, sequence]);
    const second = await collectStream(agent.stream(userRequest('hi', { messageId: 'm' })));
    expect(second.map(({ kind, sequence }) => [kind, sequence])).toEqual(kinds);
    expect(
      await collectStream(agent.stream(userRequest('hi', { messageId: 'm' }, { afterSequence: 2 }))),
    ).toEqual(first.slice(2));
    expect(runs).toEqual(['hi']);
  });

  it('accepts a resent answer once', async () => {
    const { id } = expectTask(await agent.send(userRequest('ask')));
    const first = expectTask(await agent.send(userRequest('L', { messageId: 'a', taskId: id })));
    expect(artifactTexts(first)).toEqual(['L']);
    expect(await agent.send(userRequest('L', { messageId: 'a', taskId: id }))).toEqual(first);
    expect(await collectStream(agent.stream(userRequest('L', { messageId: 'a', taskId: id })))).toMatchObject(
      [{ kind: 'task', task: { id, status: { state: 'completed' } } }],
    );
    expect(runs).toEqual(['ask', 'L']);
    expect(first.history).toHaveLength(3);
  });

  it('accepts two concurrent sends of the same answer once', async () => {
    const { id } = expectTask(await agent.send(userRequest('ask')));
    const answers = await Promise.all([
      agent.send(userRequest('L', { messageId: 'a', taskId: id })),
      agent.send(userRequest('L', { messageId: 'a', taskId: id })),
      collectStream(agent.stream(userRequest('L', { messageId: 'a', taskId: id }))),
    ]);
    expect(expectTask(answers[1])).toEqual(expectTask(answers[0]));
    expect(answers[2].at(-1)).toMatchObject({ kind: expect.stringMatching(/task|status/) });
    expect(runs).toEqual(['ask', 'L']);
    expect((await agent.getTask({ id })).history).toHaveLength(3);
  });

  it('accepts a resent answer once while the answer is processed', async () => {
    const { id } = expectTask(await agent.send(userRequest('ask')));
    const first = agent.send(userRequest('slow', { messageId: 'a', taskId: id }));
    const second = agent.send(userRequest('slow', { messageId: 'a', taskId: id }));
    const third = expectTask(
      await agent.send(userRequest('slow', { messageId: 'a', taskId: id }, immediately)),
    );
    expect(third.status.state).toBe('working');
    go.resolve();
    expect(expectTask(await second)).toEqual(expectTask(await first));
    expect(runs).toEqual(['ask', 'slow']);
  });

  it('treats a reused message id with different content as a new message', async () => {
    const first = expectTask(await agent.send(userRequest('one', { messageId: 'm' })));
    const second = expectTask(await agent.send(userRequest('two', { messageId: 'm' })));
    expect(second.id).not.toBe(first.id);
    expect(runs).toEqual(['one', 'two']);
    expect(await reasonOf(agent.send(userRequest('three', { messageId: 'm', taskId: first.id })))).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('treats the same message of another owner as a new message', async () => {
    const first = expectTask(await agent.send(userRequest('hi', { messageId: 'm' }), { owner: 'ann' }));
    const second = expectTask(await agent.send(userRequest('hi', { messageId: 'm' }), { owner: 'bob' }));
    expect(second.id).not.toBe(first.id);
    expect(runs).toEqual(['hi', 'hi']);
  });
});
