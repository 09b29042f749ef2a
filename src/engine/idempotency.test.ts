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
])('a message that is sent again, with tasks in %s', (_where, open) => {
  let ledger: TaskStore;
  let agent: LocalAgent;
  let runs: string[];
  let go: Deferred;

  beforeEach(async () => {
    ledger = await open();
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
      { taskStore: ledger },
    );
  });

  afterEach(async () => {
    await agent.close();
    await ledger[Symbol.asyncDispose]();
  });

  it('does not run twice', async () => {
    const first = expectTask(await agent.send(userRequest('hi', { messageId: 'm' })));
    expect(await agent.send(userRequest('hi', { messageId: 'm' }))).toEqual(first);
    expect(runs).toEqual(['hi']);
  });

  it('does not run twice when both come at once', async () => {
    const [first, second] = await Promise.all([
      agent.send(userRequest('hi', { messageId: 'm' })),
      agent.send(userRequest('hi', { messageId: 'm' })),
    ]);
    expect(second).toEqual(first);
    expect(runs).toEqual(['hi']);
  });

  it('does not run twice while the first runs, and gets the same end', async () => {
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

  it('does not run twice when it is streamed, and tells the same story', async () => {
    const first = await collectStream(agent.stream(userRequest('hi', { messageId: 'm' })));
    const kinds = first.map(({ kind, sequence }) => [kind, sequence]);
    const second = await collectStream(agent.stream(userRequest('hi', { messageId: 'm' })));
    expect(second.map(({ kind, sequence }) => [kind, sequence])).toEqual(kinds);
    expect(
      await collectStream(agent.stream(userRequest('hi', { messageId: 'm' }, { afterSequence: 2 }))),
    ).toEqual(first.slice(2));
    expect(runs).toEqual(['hi']);
  });

  it('does not answer a question twice', async () => {
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

  it('does not answer a question twice when both come at once', async () => {
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

  it('does not answer a question twice while the answer is worked on', async () => {
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

  it('is another message when it says something else under the same id', async () => {
    const first = expectTask(await agent.send(userRequest('one', { messageId: 'm' })));
    const second = expectTask(await agent.send(userRequest('two', { messageId: 'm' })));
    expect(second.id).not.toBe(first.id);
    expect(runs).toEqual(['one', 'two']);
    expect(await reasonOf(agent.send(userRequest('three', { messageId: 'm', taskId: first.id })))).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });

  it('is another message when somebody else sends it', async () => {
    const first = expectTask(await agent.send(userRequest('hi', { messageId: 'm' }), { owner: 'ann' }));
    const second = expectTask(await agent.send(userRequest('hi', { messageId: 'm' }), { owner: 'bob' }));
    expect(second.id).not.toBe(first.id);
    expect(runs).toEqual(['hi', 'hi']);
  });
});
