import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import type { AgentDefinition } from './agent-definition.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';
import { recognizesRepeats } from '../protocol/card.ts';

const immediately = { configuration: { returnImmediately: true } };

describe.each<[string, () => Promise<TaskStore>]>([
  ['memory', async () => memoryTaskStore()],
  ['SQLite', () => sqliteTaskStore({ file: ':memory:' })],
])('recognition of repeated messages with %s', (_where, open) => {
  let taskStore: TaskStore;
  /** Recognizes repeated messages by their ids. */
  let agent: LocalAgent;
  /** Recognizes repeated requests by their keys. */
  let byKey: LocalAgent;
  let runs: string[];
  let go: Deferred;

  beforeEach(async () => {
    taskStore = await open();
    runs = [];
    go = createDeferred();
    const definition: AgentDefinition = {
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
    };
    agent = defineAgent({ ...definition, idempotency: 'message-id' }, { taskStore });
    byKey = defineAgent(definition, { taskStore });
  });

  afterEach(async () => {
    await agent.close();
    await byKey.close();
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

  it('runs every message without a key, also with a known message id', async () => {
    const first = expectTask(await byKey.send(userRequest('hi', { messageId: 'm' })));
    const second = expectTask(await byKey.send(userRequest('hi', { messageId: 'm' })));
    expect(second.id).not.toBe(first.id);
    expect(runs).toEqual(['hi', 'hi']);
  });

  it('accepts the same answer to a second question', async () => {
    const asking = defineAgent(
      {
        name: 'A',
        description: 'A',
        async process(context) {
          for (const question of ['One?', 'Two?']) runs.push(textOf((await context.ask(question)).parts));
        },
      },
      { taskStore },
    );
    const { id } = expectTask(await asking.send(userRequest('go')));
    const answer = userRequest('yes', { messageId: 'a', taskId: id });
    expect(expectTask(await asking.send(answer)).status.state).toBe('input-required');
    expect(expectTask(await asking.send(answer)).status.state).toBe('completed');
    expect(runs).toEqual(['yes', 'yes']);
    await asking.close();
  });

  it('runs a request once that is repeated with its key', async () => {
    const key = { idempotencyKey: 'k' };
    const first = expectTask(await byKey.send(userRequest('hi', { messageId: 'm' }, key)));
    expect(await byKey.send(userRequest('hi', { messageId: 'm' }, key))).toEqual(first);
    // 0.1 has no message ids, so that the server creates another one.
    expect(expectTask(await byKey.send(userRequest('hi', { messageId: 'n' }, key))).id).toBe(first.id);
    expect(runs).toEqual(['hi']);
  });

  it('accepts an answer once that is repeated with its key', async () => {
    const { id } = expectTask(await byKey.send(userRequest('ask')));
    const answer = userRequest('L', { messageId: 'a', taskId: id }, { idempotencyKey: 'k' });
    const first = expectTask(await byKey.send(answer));
    expect(await byKey.send(answer)).toEqual(first);
    expect(runs).toEqual(['ask', 'L']);
  });

  it('rejects the key of another message', async () => {
    await byKey.send(userRequest('one', {}, { idempotencyKey: 'k' }));
    expect(await reasonOf(byKey.send(userRequest('two', {}, { idempotencyKey: 'k' })))).toBe('CONFLICT');
    const other = { owner: 'ann' };
    await byKey.send(userRequest('two', {}, { idempotencyKey: 'k' }), other);
    expect(runs).toEqual(['one', 'two']);
  });

  it('resumes the stream of a message that the client sends again with Last-Event-ID', async () => {
    const first = await collectStream(byKey.stream(userRequest('hi', { messageId: 'm' })));
    const again = userRequest('hi', { messageId: 'm' }, { afterSequence: 2 });
    expect(await collectStream(byKey.stream(again))).toEqual(first.slice(2));
    expect(runs).toEqual(['hi']);
  });
});

it('lists in the card that it recognizes keys, unless it may reply directly', async () => {
  const definition = { name: 'T', description: 'T', process: () => 'hi' };
  expect(recognizesRepeats(await defineAgent(definition).card())).toBe(true);
  const direct = defineAgent({ ...definition, allowDirectReply: true });
  expect(recognizesRepeats(await direct.card())).toBe(false);
});

it('starts a task for a message that equals an earlier one if the task store rejects known messages', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-idempotency-'));
  const taskStore = await sqliteTaskStore({ file: join(folder, 'tasks.db'), shared: true });
  const agent = defineAgent(
    { name: 'T', description: 'T', allowDirectReply: true, process: ({ text }) => text },
    { taskStore },
  );
  try {
    const first = expectTask(await agent.send(userRequest('hi', { messageId: 'm' })));
    const second = expectTask(await agent.send(userRequest('hi', { messageId: 'm' })));
    expect(second.status.state).toBe('completed');
    expect(second.id).not.toBe(first.id);
  } finally {
    await agent.close();
    await taskStore[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }
});
