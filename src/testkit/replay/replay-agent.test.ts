import { afterEach, describe, expect, it } from 'vitest';
import type { Operation } from '../../protocol/agent.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { Artifact, Task, TaskState } from '../../protocol/task.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import { TestAgentServer } from '../test-agent-server.ts';
import type { RecordedExchange, Recording } from '../../tap/recording.ts';
import type { ReplayOptions } from './replay-agent.ts';

const card: Recording['card'] = {
  name: 'Recorded',
  description: '',
  version: '1',
  interfaces: [],
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
};
const taskId = 'recorded-task-0001';
const contextId = 'recorded-context-0001';

const message = (text: string, more: Partial<Message> = {}): Message => ({
  messageId: `m-${text}`,
  role: 'user',
  parts: [{ text }],
  ...more,
});
const say = (text: string, more: Partial<Message> = {}) => ({ message: message(text, more) });
const task = (state: TaskState, text?: string, id = taskId): Task => ({
  id,
  contextId,
  status: { state },
  ...(text !== undefined && { artifacts: [artifact(text)] }),
});
const artifact = (text: string): Artifact => ({ artifactId: 'a', parts: [{ text }] });
const status = (state: TaskState): StreamEvent => ({ kind: 'status', taskId, contextId, status: { state } });
const chunk = (text: string): StreamEvent => ({
  kind: 'artifact',
  taskId,
  contextId,
  append: true,
  artifact: artifact(text),
});

type Draft = Omit<RecordedExchange, 'number' | 'summary'>;

function answered(at: number, operation: Operation, request: unknown, result: unknown, after = 10): Draft {
  return { at, operation, request, answer: { at: at + after, result } };
}

function streamed(
  at: number,
  operation: Operation,
  request: unknown,
  events: [number, StreamEvent][],
): Draft {
  const timed = events.map(([delay, event], sequence) => ({ sequence, at: at + delay, event }));
  return { at, operation, request, answer: { at: timed.at(-1)?.at ?? at, events: timed } };
}

const servers: TestAgentServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

function replay(drafts: readonly Draft[], options: Partial<ReplayOptions> = {}, clock?: VirtualClock) {
  const exchanges = drafts.map((draft, i) => ({ ...draft, number: i + 1, summary: draft.operation }));
  const recording: Recording = { card, extendedCard: undefined, exchanges, leftOut: [] };
  let ids = 0;
  const server = new TestAgentServer({
    replay: { recording, ...options },
    generateId: () => `fresh-${++ids}`,
    ...(clock && { clock }),
  });
  servers.push(server);
  return server.agent;
}

async function collect(events: AsyncIterable<StreamEvent>): Promise<string[]> {
  const all: string[] = [];
  for await (const event of events)
    if (event.kind === 'task') all.push(`task ${event.task.status.state}`);
    else if (event.kind === 'status') all.push(event.status.state);
    else if (event.kind === 'artifact') all.push(JSON.stringify(event.artifact.parts));
    else all.push('message');
  return all;
}

const conversation = [
  answered(0, 'send', { message: message('book') }, task('input-required')),
  answered(
    100,
    'send',
    { message: message('Rome', { taskId, contextId }) },
    task('completed', `${taskId}: Rome`),
  ),
];

describe('messages', () => {
  it('are answered turn by turn, with the recorded ids first and new ids after', async () => {
    const agent = replay(conversation);
    expect(await agent.send(say('book'))).toMatchObject({ id: taskId, contextId });
    const again = (await agent.send(say('  book '))) as Task;
    expect(again).toMatchObject({ id: 'fresh-2', contextId: 'fresh-1', status: { state: 'input-required' } });
    const end = await agent.send(say('Rome', { taskId: again.id }));
    expect(end).toMatchObject({ id: 'fresh-2', artifacts: [{ parts: [{ text: 'fresh-2: Rome' }] }] });
    expect(await agent.getTask({ id: taskId })).toMatchObject({ status: { state: 'input-required' } });
    expect((await agent.listTasks({})).tasks.map(({ id }) => id).sort()).toEqual(['fresh-2', taskId]);
  });

  it('keep the ids that a client chooses', async () => {
    const agent = replay(conversation);
    const request = { message: message('book', { contextId: 'mine' }), clientTaskId: 'my-task' };
    expect(await agent.send(request)).toMatchObject({ id: 'my-task', contextId: 'mine' });
    const next = { message: message('Rome', { contextId: 'mine' }), clientTaskId: 'my-task' };
    expect(await agent.send(next)).toMatchObject({ id: 'my-task', status: { state: 'completed' } });
  });

  it('are answered in the context in which they were recorded', async () => {
    const direct = (text: string, id: string): Draft =>
      answered(0, 'send', { message: message('more', { contextId: id }) }, message(text, { role: 'agent' }));
    const agent = replay([...conversation, direct('of another', 'other'), direct('of the first', contextId)]);
    await agent.send(say('book'));
    const reply = await agent.send(say('more', { contextId }));
    expect(reply).toMatchObject({ parts: [{ text: 'of the first' }] });
  });

  it('get recorded errors and direct messages', async () => {
    const agent = replay([
      {
        ...answered(0, 'send', { message: message('bad') }, undefined),
        answer: { at: 1, error: { reason: 'CONTENT_TYPE_NOT_SUPPORTED', message: 'No such type' } },
      },
      answered(0, 'send', { message: message('hi') }, message('hello', { role: 'agent', messageId: 'x' })),
    ]);
    await expect(agent.send(say('bad'))).rejects.toMatchObject({
      reason: 'CONTENT_TYPE_NOT_SUPPORTED',
      message: 'No such type',
    });
    expect(await agent.send(say('hi'))).toMatchObject({ parts: [{ text: 'hello' }] });
    expect(await collect(agent.stream(say('hi')))).toEqual(['message']);
  });

  it('match recorded texts whose secrets were removed', async () => {
    const agent = replay([
      answered(0, 'send', { message: message('use token=[redacted] now') }, task('completed')),
    ]);
    expect(await agent.send(say('use token=abcdef now'))).toMatchObject({ id: taskId });
    await expect(agent.send(say('use token=abcdef later'))).rejects.toThrow('matches no recorded');
  });

  it('that match nothing are reported with the differences from the nearest one', async () => {
    const reports: string[] = [];
    const agent = replay(
      [
        answered(0, 'send', { message: message('add 2 and 3') }, task('completed')),
        answered(0, 'send', { message: message('forget it') }, task('completed')),
      ],
      { onUnmatched: (report) => reports.push(report) },
    );
    const expected =
      'The message matches no recorded request. Nearest: request 1 (send): message.parts[0].text: recorded "add 2 and 3", received "add 2 and 4"';
    await expect(agent.send(say('add 2 and 4'))).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expected,
    });
    expect(reports).toEqual([expected]);
    await expect(agent.send(say('x', { taskId: 'none' }))).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });
});

describe('strict matching', () => {
  it('answers each request once, in order, and compares all members', async () => {
    const drafts = [
      answered(0, 'send', { message: message('a'), metadata: { tier: 1 } }, task('completed', 'A', 't1')),
      answered(5, 'send', { message: message('b') }, task('completed', 'B', 't2')),
    ];
    const agent = replay(drafts, { matching: 'strict' });
    await expect(agent.send(say('b'))).rejects.toThrow('request 1 (send)');
    await expect(agent.send({ message: message('a'), metadata: { tier: 2 } })).rejects.toThrow(
      'metadata.tier: recorded 1, received 2',
    );
    await expect(collect(agent.stream({ message: message('a'), metadata: { tier: 1 } }))).rejects.toThrow(
      'operation: recorded "send", received "stream"',
    );
    expect(await agent.send({ message: message('a'), metadata: { tier: 1 } })).toMatchObject({ id: 't1' });
    expect(await agent.send(say('b'))).toMatchObject({ id: 't2' });
    await expect(agent.send(say('b'))).rejects.toThrow('matches no recorded request');
    await expect(agent.getTask({ id: 't1' })).rejects.toThrow('getTask of task t1 matches no recorded');
  });
});

describe('streams', () => {
  const drafts = [
    streamed(0, 'stream', { message: message('go') }, [
      [10, { kind: 'task', task: task('submitted') }],
      [20, status('working')],
      [520, chunk('one')],
      [1_020, status('completed')],
    ]),
  ];

  it('have the recorded events, without delays', async () => {
    expect(await collect(replay(drafts).stream(say('go')))).toEqual([
      'task submitted',
      'working',
      '[{"text":"one"}]',
      'completed',
    ]);
  });

  it('have the recorded delays by the given clock', async () => {
    const clock = new VirtualClock({ auto: false });
    const agent = replay(drafts, { timing: 'recorded' }, clock);
    const seen: [number, string][] = [];
    const start = clock.now();
    const reading = (async () => {
      for await (const event of agent.stream(say('go'))) seen.push([clock.now() - start, event.kind]);
    })();
    await clock.advance(519);
    expect(seen).toEqual([
      [10, 'task'],
      [20, 'status'],
    ]);
    await clock.advance(501);
    await reading;
    expect(seen.slice(2)).toEqual([
      [520, 'artifact'],
      [1_020, 'status'],
    ]);
  });

  it('answer a send request with the task at their end, and the reverse', async () => {
    expect(await replay(drafts).send(say('go'))).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: 'one' }] }],
    });
    expect(await collect(replay(conversation).stream(say('book')))).toEqual(['task input-required']);
  });

  it('answer a send request only when they have ended', async () => {
    const clock = new VirtualClock({ auto: false });
    const sending = replay(drafts, { timing: 'recorded' }, clock).send(say('go'));
    await clock.advance(1_020);
    expect(await sending).toMatchObject({ status: { state: 'completed' } });
  });

  it('wait for the cancellation that ended them', async () => {
    const agent = replay([
      streamed(0, 'stream', { message: message('slow') }, [
        [10, { kind: 'task', task: task('working') }],
        [1_000, status('canceled')],
      ]),
      answered(900, 'cancelTask', { id: taskId }, task('canceled'), 150),
    ]);
    const events = agent.stream(say('slow'))[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ kind: 'task' });
    expect(await agent.getTask({ id: taskId })).toMatchObject({ status: { state: 'working' } });
    expect(await agent.cancelTask({ id: taskId })).toMatchObject({ status: { state: 'canceled' } });
    expect((await events.next()).value).toMatchObject({ status: { state: 'canceled' } });
    expect((await events.next()).done).toBe(true);
  });

  it('of a later turn begin with the task', async () => {
    const agent = replay([
      answered(0, 'send', { message: message('book') }, task('input-required')),
      streamed(50, 'stream', { message: message('Rome', { taskId }) }, [
        [5, chunk('one')],
        [9, status('completed')],
      ]),
    ]);
    await agent.send(say('book'));
    expect(await collect(agent.stream(say('Rome', { taskId })))).toEqual([
      'task input-required',
      'working',
      '[{"text":"one"}]',
      'completed',
    ]);
    expect((await agent.getTask({ id: taskId })).history).toMatchObject([{ parts: [{ text: 'Rome' }] }]);
  });

  it('end with the recorded error', async () => {
    const [draft] = drafts as [Draft];
    const error = { reason: 'UNAVAILABLE' as const, message: 'Gone' };
    const cut = { ...draft.answer, events: draft.answer.events?.slice(0, 2) ?? [], error };
    const agent = replay([{ ...draft, answer: cut }]);
    const seen: string[] = [];
    await expect(
      (async () => {
        for await (const event of agent.stream(say('go'))) seen.push(event.kind);
      })(),
    ).rejects.toMatchObject(error);
    expect(seen).toEqual(['task', 'status']);
  });
});

describe('reads of a task', () => {
  const polled = [
    answered(
      0,
      'send',
      { message: message('go'), configuration: { returnImmediately: true } },
      task('working'),
    ),
    answered(100, 'getTask', { id: taskId }, task('working')),
    answered(200, 'getTask', { id: taskId }, task('completed', 'done')),
  ];

  it('are answered as recorded, then with the last state', async () => {
    const agent = replay(polled);
    const states: TaskState[] = [];
    const request = { message: message('go'), configuration: { returnImmediately: true } };
    states.push(((await agent.send(request)) as Task).status.state);
    for (let i = 0; i < 3; i++) states.push((await agent.getTask({ id: taskId })).status.state);
    expect(states).toEqual(['working', 'working', 'completed', 'completed']);
  });

  it('need not happen for a client that waits', async () => {
    expect(await replay(polled).send(say('go'))).toMatchObject({ status: { state: 'completed' } });
    expect(await collect(replay(polled).stream(say('go')))).toEqual(['task working', 'task completed']);
  });

  it('include a subscription after the first client has left', async () => {
    const agent = replay([
      streamed(0, 'stream', { message: message('go') }, [[1, { kind: 'task', task: task('working') }]]),
      streamed(50, 'subscribe', { id: taskId }, [
        [1, { kind: 'task', task: task('working') }],
        [2, chunk('late')],
        [3, status('completed')],
      ]),
    ]);
    for await (const event of agent.stream(say('go'))) if (event.kind === 'task') break;
    expect(await collect(agent.subscribe({ id: taskId }))).toEqual([
      'task working',
      '[{"text":"late"}]',
      'completed',
    ]);
    await expect(collect(agent.subscribe({ id: taskId }))).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
    });
  });

  it('find tasks that are older than the recording', async () => {
    const agent = replay([
      answered(0, 'getTask', { id: taskId }, task('working')),
      answered(10, 'cancelTask', { id: taskId }, task('canceled')),
      {
        ...answered(20, 'cancelTask', { id: taskId }, undefined),
        answer: { at: 21, error: { reason: 'TASK_NOT_CANCELABLE', message: 'Too late' } },
      },
    ]);
    expect((await agent.listTasks({})).tasks).toHaveLength(1);
    expect(await agent.getTask({ id: taskId })).toMatchObject({ status: { state: 'working' } });
    expect(await agent.cancelTask({ id: taskId })).toMatchObject({ status: { state: 'canceled' } });
    await expect(agent.cancelTask({ id: taskId })).rejects.toThrow('Too late');
    await expect(agent.getTask({ id: 'none' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
  });

  it('cancel a task although no cancellation was recorded', async () => {
    const agent = replay(polled);
    await agent.send({ message: message('go'), configuration: { returnImmediately: true } });
    expect(await agent.cancelTask({ id: taskId })).toMatchObject({ status: { state: 'canceled' } });
    expect(await agent.getTask({ id: taskId })).toMatchObject({ status: { state: 'canceled' } });
    await expect(agent.cancelTask({ id: taskId })).rejects.toMatchObject({ reason: 'TASK_NOT_CANCELABLE' });
  });

  it('return push configurations as recorded, with the id of the task', async () => {
    const config = { taskId, id: 'p', url: 'https://client.example/hook' };
    const agent = replay([...polled, answered(300, 'createPushConfig', config, config)]);
    await agent.send({ message: message('go') });
    const again = (await agent.send({ message: message('go') })) as Task;
    expect(await agent.createPushConfig({ ...config, taskId: again.id })).toEqual({
      ...config,
      taskId: again.id,
    });
    await expect(agent.listPushConfigs({ taskId })).rejects.toMatchObject({
      reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    });
  });
});
