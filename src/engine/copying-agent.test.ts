import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { vandalize } from '../../test/support/vandalize.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import { sqliteTaskStore } from '../store/sqlite.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { AgentDefinition, LocalAgent } from './agent-definition.ts';
import { defineAgent } from './local-agent.ts';

const message = (): Message => ({
  messageId: 'm',
  role: 'user',
  parts: [{ text: 'hi' }, { data: { list: [{ a: 1 }] } }],
  extensions: ['urn:x'],
  metadata: { deep: { list: [1] } },
});

/** Modifies everything that it receives and yields. */
const vandal: AgentDefinition = {
  name: 'Vandal',
  description: 'Modifies its input and output',
  pushNotifications: true,
  skills: [{ id: 's', tags: ['t'] }],
  async *process(context) {
    vandalize(context.message);
    vandalize(context.task);
    vandalize(context.metadata);
    const outputs = [
      { state: 'working' as const, message: [{ data: { a: [1] } }], metadata: { deep: [1] } },
      {
        artifact: {
          artifactId: 'a',
          parts: [{ data: { b: [2] } }],
          metadata: { deep: [2] },
          extensions: ['urn:y'],
        },
        metadata: { deep: [3] },
      },
      { artifact: { artifactId: 'a', parts: [{ data: { c: [3] } }] }, append: true, lastChunk: true },
    ];
    for (const output of outputs) {
      yield output;
      vandalize(output);
    }
    const answer = await context.ask('More?');
    vandalize(answer);
    const last: Message = { messageId: 'last', role: 'agent', parts: [{ data: { d: [4] } }] };
    setImmediate(() => vandalize(last));
    yield last;
    vandalize(last);
  },
};

describe.each([
  ['memory', async () => memoryTaskStore()],
  ['SQLite', async (folder: string) => sqliteTaskStore({ file: join(folder, 'tasks.db') })],
])('an agent with a task store in %s', (_name, open) => {
  let folder: string;
  let taskStore: TaskStore;
  let agent: LocalAgent;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'copies-'));
    taskStore = await open(folder);
    agent = defineAgent(vandal, { taskStore });
  });

  afterEach(async () => {
    await agent.close();
    await taskStore[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  const read = async (id: string): Promise<string> => {
    const events: StreamEvent[] = [];
    for await (const event of agent.subscribe({ id, afterSequence: 1 })) events.push(event);
    return JSON.stringify([
      await agent.getTask({ id }),
      await agent.listTasks({ includeArtifacts: true }),
      await agent.listPushConfigs({ taskId: id }),
      await agent.card(),
      events,
    ]);
  };

  /** Runs a task to its end. Returns its id. */
  const run = async (): Promise<string> => {
    const interruptedTask = (await agent.send({
      message: message(),
      idempotencyKey: 'k',
      metadata: { a: [1] },
    })) as Task;
    await agent.createPushConfig({ id: 'p', taskId: interruptedTask.id, url: 'https://hooks.example/' });
    const answer: Message = {
      messageId: 'n',
      role: 'user',
      parts: [{ text: 'yes' }],
      taskId: interruptedTask.id,
    };
    await agent.send({ message: answer });
    return interruptedTask.id;
  };

  it('stores what the process function received and yielded, not what it modified later', async () => {
    const id = await run();
    expect(await read(id)).not.toContain('vandalized');
    expect(await agent.getTask({ id })).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ data: { b: [2] } }, { data: { c: [3] } }], metadata: { deep: [2] } }],
    });
  });

  it('keeps a task unchanged when the caller modifies its request', async () => {
    const request = { message: message(), metadata: { a: [1] } };
    const sending = agent.send(request);
    vandalize(request);
    const { id } = (await sending) as Task;
    expect(JSON.stringify(await agent.getTask({ id }))).not.toContain('vandalized');
    const streamed = { message: { ...message(), messageId: 'other' } };
    const events = agent.stream(streamed);
    vandalize(streamed);
    for await (const event of events) expect(JSON.stringify(event)).not.toContain('vandalized');
  });

  it('keeps a task unchanged when the caller modifies what it got', async () => {
    const id = await run();
    const before = await read(id);
    vandalize(await agent.send({ message: message(), idempotencyKey: 'k' }));
    for await (const event of agent.stream({ message: message(), idempotencyKey: 'k' })) vandalize(event);
    for await (const event of agent.subscribe({ id, afterSequence: 0 })) vandalize(event);
    vandalize(await agent.getTask({ id }));
    vandalize(await agent.getTask({ id, historyLength: 1 }));
    vandalize(await agent.listTasks({ includeArtifacts: true }));
    vandalize(await agent.listPushConfigs({ taskId: id }));
    vandalize(await agent.getPushConfig({ taskId: id, id: 'p' }));
    vandalize(await agent.card());
    expect(await read(id)).toBe(before);
  });

  it('keeps its card unchanged when the definition is modified', async () => {
    const definition = structuredClone({ ...vandal, process: undefined });
    await using other = defineAgent({ ...definition, process: () => 'done' });
    vandalize(definition);
    expect(JSON.stringify(await other.card())).not.toContain('vandalized');
  });

  it('rejects a message with cycles', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const request = { message: { ...message(), metadata: cycle } };
    await expect(agent.send(request)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    const events = agent.stream(request)[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
  });
});
