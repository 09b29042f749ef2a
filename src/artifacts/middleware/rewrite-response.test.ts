import { describe, expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { defineAgent } from '../../engine/index.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { RawPart } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import { memoryArtifactStore } from '../stores/memory.ts';
import { loadMetadata } from '../artifact-metadata.ts';
import { withArtifacts, type WithArtifactsOptions } from '../with-artifacts.ts';

const call: CallContext = { owner: 'alice@example.com' };
const request: SendRequest = {
  message: { messageId: 'm-1', role: 'user', contextId: 's-1', parts: [{ text: 'go' }] },
};
const scope = { app: 'ns', user: 'alice@example.com', session: 's-1' };
const raw = (text: string, labels: Partial<RawPart> = {}): RawPart => ({
  raw: Buffer.from(text).toString('base64'),
  ...labels,
});
const agentMessage = (parts: Message['parts'], messageId = 'a-1'): Message => ({
  messageId,
  role: 'agent',
  parts,
});

const report: Task = {
  id: 't-1',
  contextId: 's-1',
  status: { state: 'completed', message: agentMessage([{ text: 'done' }]) },
  artifacts: [
    {
      artifactId: 'art-1',
      name: 'Report',
      description: 'The numbers',
      parts: [
        { text: 'see' },
        raw('1,2', { filename: 'report.csv', mediaType: 'text/csv', metadata: { k: 1 } }),
      ],
    },
  ],
};

function wrapAgent(response: Task | Message, options: Partial<WithArtifactsOptions> = {}) {
  const store = options.store ?? memoryArtifactStore();
  const inner: Agent = stubAgent(defineAgent({ name: 'helper', description: '', process: () => 'ok' }), {
    send: async () => response,
    getTask: async () => response as Task,
    cancelTask: async () => response as Task,
    listTasks: async () => ({ tasks: [response as Task], nextPageToken: '', pageSize: 1, totalSize: 1 }),
  });
  const clock = { now: () => 1_700_000_000_500 };
  return { store, agent: withArtifacts(inner, { store, app: 'helper', namespace: 'ns', clock, ...options }) };
}

async function sendTask(agent: Agent): Promise<Task> {
  const response = await agent.send(request, call);
  if (!isTask(response)) throw new Error('not a task');
  return response;
}

describe('withArtifacts bytes in responses', () => {
  it('replaces bytes by a stored file with metadata and a link', async () => {
    const { agent, store } = wrapAgent(report);
    const task = await sendTask(agent);
    expect(task.artifacts).toEqual([
      {
        artifactId: 'art-1',
        name: 'Report',
        description: 'The numbers',
        parts: [
          { text: 'see' },
          {
            url: 'artifact://helper/alice@example.com/s-1/report.csv?version=0',
            filename: 'report.csv',
            mediaType: 'text/csv',
            metadata: { k: 1 },
          },
        ],
      },
    ]);
    expect(task.metadata).toEqual({ produced_artifacts: [{ filename: 'report.csv', version: 0 }] });
    const key = { ...scope, filename: 'report.csv' };
    const file = await store.load(key);
    expect(file?.mimeType).toBe('text/csv');
    expect(Buffer.from((await file?.bytes()) ?? []).toString()).toBe('1,2');
    expect(await loadMetadata(store, key, 0)).toEqual({
      filename: 'report.csv',
      mime_type: 'text/csv',
      size_bytes: 3,
      timestamp_utc: 1_700_000_000.5,
      description: 'The numbers',
      proxied_from_artifact_id: 'art-1',
    });
  });

  it('stores bytes once for repeated requests of the task', async () => {
    const { agent, store } = wrapAgent(report);
    const first = await sendTask(agent);
    expect(await agent.getTask({ id: 't-1' }, call)).toEqual(first);
    expect((await agent.listTasks({}, call)).tasks).toEqual([first]);
    expect(await agent.cancelTask({ id: 't-1' }, call)).toEqual(first);
    expect(await store.versions({ ...scope, filename: 'report.csv' })).toEqual([0]);
    expect(report.artifacts?.[0]?.parts[1]).toHaveProperty('raw');
  });

  it('stores changed bytes as a new version', async () => {
    const store = memoryArtifactStore();
    await sendTask(wrapAgent(report, { store }).agent);
    const changed = {
      ...report,
      id: 't-2',
      artifacts: [{ artifactId: 'art-1', parts: [raw('3,4', { filename: 'report.csv' })] }],
    };
    const task = await sendTask(wrapAgent(changed, { store }).agent);
    expect(task.metadata?.produced_artifacts).toEqual([{ filename: 'report.csv', version: 1 }]);
    expect((await loadMetadata(store, { ...scope, filename: 'report.csv' }, 1))?.size_bytes).toBe(3);
  });

  it('replaces bytes in status messages, history and direct messages', async () => {
    const task: Task = {
      ...report,
      artifacts: [],
      status: { state: 'completed', message: agentMessage([raw('a', { mediaType: 'image/png' })]) },
      history: [agentMessage([{ text: 'a draft' }, raw('b', { filename: 'draft.txt' })], 'a-0')],
    };
    const { agent, store } = wrapAgent(task);
    const response = await sendTask(agent);
    expect(JSON.stringify(response)).not.toContain('"raw"');
    expect(response.metadata?.produced_artifacts).toEqual([
      { filename: 'a-1.png', version: 0 },
      { filename: 'draft.txt', version: 0 },
    ]);
    expect((await loadMetadata(store, { ...scope, filename: 'draft.txt' }))?.description).toBe('a draft');
    expect((await loadMetadata(store, { ...scope, filename: 'a-1.png' }))?.description).toBe(
      'Artifact created by helper',
    );

    const direct = await wrapAgent(agentMessage([raw('c', { filename: 'c.txt' })])).agent.send(request, call);
    expect(direct).toMatchObject({
      parts: [{ url: 'artifact://helper/alice@example.com/s-1/c.txt?version=0' }],
      metadata: { produced_artifacts: [{ filename: 'c.txt', version: 0 }] },
    });
  });

  it('does not list files of the client as produced', async () => {
    const mine: Message = { messageId: 'm-1', role: 'user', parts: [raw('mine', { filename: 'mine.txt' })] };
    const { agent, store } = wrapAgent({ ...report, artifacts: [], history: [mine] });
    const task = await sendTask(agent);
    expect(task.history?.[0]?.parts[0]).toMatchObject({
      url: expect.stringContaining('/mine.txt?version=0') as string,
    });
    expect(task.metadata).toBeUndefined();
    await agent.getTask({ id: 't-1' }, call);
    expect(await store.versions({ ...scope, filename: 'mine.txt' })).toEqual([0]);
  });

  it('omits bytes until the task reaches a terminal or interrupted state', async () => {
    const working: Task = { ...report, status: { state: 'working' } };
    const { agent, store } = wrapAgent(working);
    const task = await sendTask(agent);
    expect(task.artifacts).toEqual([{ ...report.artifacts?.[0], parts: [{ text: 'see' }] }]);
    expect(await store.list(scope)).toEqual([]);
    const asking = wrapAgent({ ...report, status: { state: 'input-required' } });
    expect((await sendTask(asking.agent)).metadata?.produced_artifacts).toHaveLength(1);
  });

  it('joins parts with the same filename of one artifact to one file', async () => {
    const parts = [raw('ab', { filename: 'x.txt' }), raw('cd', { filename: 'x.txt' }), raw('e'), raw('f')];
    const { agent, store } = wrapAgent({ ...report, artifacts: [{ artifactId: 'art-1', parts }] });
    const task = await sendTask(agent);
    expect(task.metadata?.produced_artifacts).toEqual([
      { filename: 'x.txt', version: 0 },
      { filename: 'art-1-2.bin', version: 0 },
      { filename: 'art-1-3.bin', version: 0 },
    ]);
    expect((await store.load({ ...scope, filename: 'x.txt' }))?.size).toBe(4);
  });

  it.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\report.txt', 'report.txt'],
    ['user:profile.json', 'user_profile.json'],
    ['x.txt.metadata.json', 'x.txt-metadata.json'],
    ['CON', '_CON'],
    ['a\u0000b.txt', 'a_b.txt'],
    ['．．／ｘ.txt', 'x.txt'],
    ['..', 'art-1.txt'],
    ['', 'art-1.txt'],
    ['evil\u202Etxt.exe', 'evil_txt.exe'],
    [`${'é'.repeat(500)}.txt`, `${'é'.repeat(98)}.txt`],
  ])('stores a file named %j as %j', async (filename, safe) => {
    const part = raw('x', { filename, mediaType: 'text/plain' });
    const { agent } = wrapAgent({ ...report, artifacts: [{ artifactId: 'art-1', parts: [part] }] });
    expect((await sendTask(agent)).metadata?.produced_artifacts).toEqual([{ filename: safe, version: 0 }]);
  });

  it('isolates files by user and session with any names', async () => {
    const { agent, store } = wrapAgent(report, { user: () => '../bob', session: () => 'user' });
    const task = await sendTask(agent);
    expect(task.artifacts?.[0]?.parts[1]).toMatchObject({
      url: 'artifact://helper/..%252Fbob/%2575ser/report.csv?version=0',
    });
    expect(await store.list({ app: 'ns', user: '..%2Fbob', session: '%75ser' })).toContain('report.csv');
  });

  it('never returns bytes that the store rejects', async () => {
    const { agent } = wrapAgent(report, { store: memoryArtifactStore({ maxBytes: 2 }) });
    const error = await agent.send(request, call).then(
      () => undefined,
      (thrown: unknown) => thrown as A2AError,
    );
    expect(error?.reason).toBe('PAYLOAD_TOO_LARGE');
  });
});

it('returns responses without bytes unchanged', async () => {
  const plain: Task = {
    ...report,
    artifacts: [{ artifactId: 'a', parts: [{ text: 'x' }] }],
    history: [agentMessage([{ data: 1 }])],
  };
  expect(await wrapAgent(plain).agent.send(request, call)).toBe(plain);
});

it('requires a namespace for scope namespace', () => {
  expect(() => wrapAgent(report, { namespace: undefined, scope: 'namespace' })).toThrow(
    'namespace must be set',
  );
});
