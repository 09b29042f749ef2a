import { describe, expect, it } from 'vitest';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { TaskArtifactUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { lintStream } from '../../protocol/lint-stream.ts';
import type { Part, RawPart } from '../../protocol/part.ts';
import { reduce } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import { withArtifacts, type WithArtifactsOptions } from '../with-artifacts.ts';

const call: CallContext = { owner: 'alice' };
const ids = { taskId: 't-1', contextId: 's-1' };
const scope = { app: 'ns', user: 'alice', session: 's-1' };
const request = {
  message: { messageId: 'm-1', role: 'user' as const, contextId: 's-1', parts: [{ text: 'go' }] },
};

const raw = (text: string, labels: Partial<RawPart> = {}): RawPart => ({
  raw: Buffer.from(text).toString('base64'),
  ...labels,
});
const started: StreamEvent = {
  kind: 'task',
  task: { id: 't-1', contextId: 's-1', status: { state: 'working' } },
};
const status = (state: TaskState, parts?: Part[]): StreamEvent => ({
  kind: 'status',
  ...ids,
  status: { state, ...(parts && { message: { messageId: 'a-1', role: 'agent', parts } }) },
});
const chunk = (
  artifactId: string,
  parts: Part[],
  flags: Partial<TaskArtifactUpdateEvent> = {},
): TaskArtifactUpdateEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId, parts },
  ...flags,
});
const more = { append: true };
const last = { append: true, lastChunk: true };

interface Scenario {
  events: StreamEvent[];
  task?: Task;
  options?: Partial<WithArtifactsOptions>;
}

function wrapAgent({ events, task, options }: Scenario) {
  const store = options?.store ?? memoryArtifactStore();
  async function* play() {
    yield* events;
  }
  const inner: Agent = stubAgent(defineAgent({ name: 'helper', description: '', process: () => 'ok' }), {
    stream: play,
    subscribe: play,
    async getTask() {
      if (!task) throw new Error('unexpected getTask');
      return task;
    },
  });
  return { store, agent: withArtifacts(inner, { store, app: 'helper', namespace: 'ns', ...options }) };
}

/** Rewrites a stream and checks that the output is as valid as the input. */
async function rewrite(scenario: Scenario) {
  const { store, agent } = wrapAgent(scenario);
  const rewritten = await collectStream(agent.stream(request, call));
  expect(JSON.stringify(rewritten)).not.toContain('"raw"');
  expect(lintStream(rewritten).filter(({ level }) => level === 'error')).toEqual(
    lintStream(scenario.events).filter(({ level }) => level === 'error'),
  );
  const content = async (filename: string, version?: number) =>
    Buffer.from((await (await store.load({ ...scope, filename }, version))?.bytes()) ?? []).toString();
  return { rewritten, store, agent, content };
}

const link = (filename: string, version = 0) => ({
  url: `artifact://helper/alice/s-1/${filename}?version=${version}`,
  filename,
  mediaType: 'text/plain',
});
const produced = (events: StreamEvent[]): unknown => {
  const event = events.at(-1);
  if (event?.kind === 'task') return event.task.metadata?.produced_artifacts;
  if (event?.kind === 'message') return event.message.metadata?.produced_artifacts;
  return event?.metadata?.produced_artifacts;
};

describe('rewriteStream chunked artifact', () => {
  const x = { filename: 'x.txt', mediaType: 'text/plain' };

  it('becomes one file and one version, sent with the last chunk', async () => {
    const { rewritten, store, content } = await rewrite({
      events: [
        started,
        chunk('a', [raw('one ', x)]),
        status('working'),
        chunk('a', [raw('two ')], more),
        chunk('a', [raw('three', x)], last),
        status('completed'),
      ],
    });
    expect(rewritten.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'status']);
    expect(rewritten[2]).toEqual({ ...chunk('a', [link('x.txt')]), lastChunk: true });
    expect(await content('x.txt')).toBe('one two three');
    expect(await store.versions({ ...scope, filename: 'x.txt' })).toEqual([0]);
    expect(await store.versions({ ...scope, filename: 'x.txt.metadata.json' })).toEqual([0]);
    expect(produced(rewritten)).toEqual([{ filename: 'x.txt', version: 0 }]);
  });

  it('passes text and data immediately and appends the link', async () => {
    const { rewritten } = await rewrite({
      events: [
        started,
        chunk('a', [raw('one', x), { text: 'first' }]),
        chunk('a', [{ text: ' second' }], more),
        chunk('a', [raw('two'), { data: { n: 1 } }], last),
        status('completed'),
      ],
    });
    expect(rewritten.slice(1, -1)).toEqual([
      chunk('a', [{ text: 'first' }]),
      chunk('a', [{ text: ' second' }], more),
      chunk('a', [{ data: { n: 1 } }, link('x.txt')], last),
    ]);
  });

  it('sends its first event without append', async () => {
    const { rewritten } = await rewrite({
      events: [started, chunk('a', [raw('1', x)]), chunk('a', [{ text: 't' }], more), status('completed')],
    });
    expect(rewritten.slice(1, -1)).toEqual([
      chunk('a', [{ text: 't' }]),
      { ...chunk('a', [link('x.txt')]), ...last },
    ]);
  });

  it('completes a chunked artifact when the task reaches a terminal or interrupted state', async () => {
    for (const state of ['completed', 'failed', 'input-required'] as const) {
      const { rewritten } = await rewrite({
        events: [started, chunk('a', [raw('1', x)]), status('working'), status(state)],
      });
      expect(rewritten.map((event) => event.kind)).toEqual(['task', 'status', 'artifact', 'status']);
    }
  });

  it('keeps name, description and metadata of the event that was held back', async () => {
    const event = chunk('a', [raw('1', x)], { metadata: { e: 1 } });
    Object.assign(event.artifact, { name: 'N', description: 'D', metadata: { k: 1 } });
    const { rewritten } = await rewrite({
      events: [started, event, chunk('a', [raw('2')], more), status('completed')],
    });
    expect(rewritten[1]).toMatchObject({ artifact: { name: 'N', description: 'D', metadata: { k: 1 } } });
  });

  it('rewrites an artifact with several files between chunks of other artifacts', async () => {
    const y = { filename: 'y.txt', mediaType: 'text/plain' };
    const { rewritten, content } = await rewrite({
      events: [
        started,
        chunk('a', [raw('x1', x)]),
        chunk('b', [raw('b1', { filename: 'b.txt' })]),
        chunk('a', [raw('x2'), raw('y1', y)], more),
        chunk('b', [raw('b2')], last),
        chunk('a', [raw('y2', y)], last),
        status('completed'),
      ],
    });
    expect([await content('x.txt'), await content('y.txt'), await content('b.txt')]).toEqual([
      'x1x2',
      'y1y2',
      'b1b2',
    ]);
    expect(produced(rewritten)).toEqual([
      { filename: 'b.txt', version: 0 },
      { filename: 'x.txt', version: 0 },
      { filename: 'y.txt', version: 0 },
    ]);
  });

  it('keeps the previous content of a restarted artifact as a version', async () => {
    const { content } = await rewrite({
      events: [
        started,
        chunk('a', [raw('old', x)]),
        chunk('a', [raw('new', x)], { lastChunk: true }),
        status('completed'),
      ],
    });
    expect([await content('x.txt', 0), await content('x.txt', 1)]).toEqual(['old', 'new']);
  });

  it('does not store a chunked artifact again for snapshots, getTask and other subscribers', async () => {
    const parts = [raw('one ', x), raw('two')];
    const task: Task = {
      id: 't-1',
      contextId: 's-1',
      status: { state: 'completed' },
      artifacts: [{ artifactId: 'a', parts }],
    };
    const events = [
      started,
      chunk('a', [raw('one ', x)]),
      chunk('a', [raw('two')], last),
      status('working', [raw('s', { filename: 's.txt' })]),
      { kind: 'task' as const, task },
    ];
    const { rewritten, agent, store } = await rewrite({ events, task });
    const end = rewritten.at(-1);
    expect(end).toMatchObject({ task: { artifacts: [{ artifactId: 'a', parts: [link('x.txt')] }] } });
    const list = [
      { filename: 'x.txt', version: 0 },
      { filename: 's.txt', version: 0 },
    ];
    expect(produced(rewritten)).toEqual(list);
    expect(await agent.getTask({ id: 't-1' }, call)).toEqual(end?.kind === 'task' && end.task);
    const [one, two] = await Promise.all([
      collectStream(agent.subscribe({ id: 't-1' }, call)),
      collectStream(agent.stream(request, call)),
    ]);
    expect(one).toEqual(rewritten);
    expect(two).toEqual(rewritten);
    expect(await store.list(scope)).toEqual(['s.txt', 's.txt.metadata.json', 'x.txt', 'x.txt.metadata.json']);
    expect(await store.versions({ ...scope, filename: 'x.txt' })).toEqual([0]);
  });

  it('continues from the snapshot when a subscriber joins late', async () => {
    const task: Task = {
      id: 't-1',
      contextId: 's-1',
      status: { state: 'working' },
      artifacts: [
        { artifactId: 'a', parts: [{ text: 't' }, raw('one ', x)] },
        { artifactId: 'b', parts: [raw('b', { filename: 'b' })] },
      ],
    };
    const { rewritten, content } = await rewrite({
      events: [{ kind: 'task', task }, chunk('a', [raw('two')], last), status('completed')],
    });
    expect(rewritten[0]).toMatchObject({
      task: { artifacts: [{ artifactId: 'a', parts: [{ text: 't' }] }] },
    });
    expect(rewritten[1]).toEqual(chunk('a', [link('x.txt')], last));
    expect(rewritten[2]).toMatchObject({ artifact: { artifactId: 'b' }, lastChunk: true });
    expect(await content('x.txt')).toBe('one two');
    expect(reduce(rewritten)).toMatchObject({
      artifacts: [{ artifactId: 'a', parts: [{ text: 't' }, link('x.txt')] }, {}],
    });
  });

  it('reads the artifact from the task after missed first chunks', async () => {
    const task: Task = {
      id: 't-1',
      contextId: 's-1',
      status: { state: 'working' },
      artifacts: [{ artifactId: 'a', parts: [{ text: 't' }, raw('one ', x), raw('two')] }],
    };
    const events = [chunk('a', [raw('two'), { text: 't' }], last), status('completed')];
    const { agent, store } = wrapAgent({ events, task });
    const rewritten = await collectStream(agent.subscribe({ id: 't-1', afterSequence: 3 }, call));
    expect(rewritten[0]).toEqual(chunk('a', [{ text: 't' }, link('x.txt')], { lastChunk: true }));
    expect((await store.load({ ...scope, filename: 'x.txt' }))?.size).toBe(7);
    await agent.getTask({ id: 't-1' }, call);
    expect(await store.versions({ ...scope, filename: 'x.txt' })).toEqual([0]);
  });

  it('keeps the sequence numbers of events', async () => {
    const events = [
      { ...started, sequence: 1 },
      chunk('a', [raw('1', x)], { sequence: 2 }),
      chunk('a', [raw('2')], { ...last, sequence: 3 }),
      { ...status('completed'), sequence: 4 },
    ];
    const { rewritten } = await rewrite({ events });
    expect(rewritten.map(({ sequence }) => sequence)).toEqual([1, 3, 4]);
  });

  it('discards a chunked artifact when the client disconnects', async () => {
    const { agent, store } = wrapAgent({
      events: [started, chunk('a', [raw('1', x)]), status('working'), status('completed')],
    });
    for await (const event of agent.stream(request, call)) if (event.kind === 'status') break;
    expect(await store.list(scope)).toEqual([]);
  });

  it('completes the oldest open artifact beyond maxOpenArtifacts', async () => {
    const { rewritten } = await rewrite({
      events: [started, ...[1, 2, 3].map((n) => chunk(`a${n}`, [raw(`${n}`)])), status('completed')],
      options: { limits: { maxOpenArtifacts: 2 } },
    });
    expect(
      rewritten.map((event) => (event.kind === 'artifact' ? event.artifact.artifactId : event.kind)),
    ).toEqual(['task', 'a1', 'a2', 'a3', 'status']);
  });

  it('limits chunked artifacts to maxBytes and maxFilesPerTask', async () => {
    const events = [started, chunk('a', [raw('123', x)]), chunk('a', [raw('456')], more)];
    const big = wrapAgent({ events, options: { limits: { maxBytes: 5 } } });
    await expect(collectStream(big.agent.stream(request, call))).rejects.toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
    });
    expect(await big.store.list(scope)).toEqual([]);
    const many = wrapAgent({
      events: [started, status('working', [raw('1')]), status('working', [raw('2')])],
      options: { limits: { maxFilesPerTask: 1 } },
    });
    await expect(collectStream(many.agent.stream(request, call))).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
    });
  });
});

describe('rewriteStream', () => {
  it('passes events without bytes unchanged', async () => {
    const events = [
      started,
      status('working', [{ text: 'x' }]),
      chunk('a', [{ text: 'y' }]),
      chunk('a', [{ text: 'z' }], last),
      status('completed'),
    ];
    const { rewritten } = await rewrite({ events });
    rewritten.forEach((event, index) => expect(event).toBe(events[index]));
  });

  it('rewrites a direct message', async () => {
    const message = { messageId: 'a-1', role: 'agent' as const, parts: [raw('x', { filename: 'x.txt' })] };
    const { rewritten } = await rewrite({ events: [{ kind: 'message', message }] });
    expect(rewritten).toMatchObject([{ kind: 'message', message: { parts: [link('x.txt')] } }]);
    expect(produced(rewritten)).toEqual([{ filename: 'x.txt', version: 0 }]);
  });

  it('lists the produced artifacts of all turns in the terminal event', async () => {
    const turns = [
      [started, chunk('a', [raw('1', { filename: '1.txt' })]), status('input-required')],
      [started, chunk('b', [raw('2', { filename: '2.txt' })], { lastChunk: true }), status('completed')],
    ];
    const inner = stubAgent(defineAgent({ name: 'helper', description: '', process: () => 'ok' }), {
      async *stream() {
        yield* turns.shift() ?? [];
      },
    });
    const agent = withArtifacts(inner, { store: memoryArtifactStore(), app: 'helper' });
    const firstTurn = await collectStream(agent.stream(request, call));
    expect(produced(firstTurn)).toBeUndefined();
    expect(produced(await collectStream(agent.stream(request, call)))).toEqual([
      { filename: '1.txt', version: 0 },
      { filename: '2.txt', version: 0 },
    ]);
  });

  it('isolates the files of users for the same task id', async () => {
    const task: Task = {
      id: 't-1',
      contextId: 's-1',
      status: { state: 'completed' },
      artifacts: [{ artifactId: 'a', parts: [raw('x')] }],
    };
    const { agent, store } = wrapAgent({ events: [], task });
    await agent.getTask({ id: 't-1' }, call);
    const other = await agent.getTask({ id: 't-1' }, { owner: 'bob' });
    expect(JSON.stringify(other)).toContain('artifact://helper/bob/s-1/');
    expect(await store.list({ ...scope, user: 'bob' })).toHaveLength(2);
  });
});
