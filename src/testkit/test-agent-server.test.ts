import { afterEach, describe, expect, it } from 'vitest';
import { connect } from '../client/connect.ts';
import type { SendRequest } from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import { VirtualClock } from './clock/virtual-clock.ts';
import type { TestAgentOptions } from './test-agent-options.ts';
import { TestAgentServer } from './test-agent-server.ts';
import { collectStream } from '../../test/support/collect-stream.ts';

const servers: TestAgentServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((each) => each.stop()));
});

async function start(options?: TestAgentOptions): Promise<TestAgentServer> {
  const server = await TestAgentServer.start(options);
  servers.push(server);
  return server;
}

const userRequest = (text: string, more: object = {}): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});

/** Sends a 0.3 JSON-RPC request. */
async function rpc(
  url: string,
  method: string,
  params: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

/** Builds a message in the 0.3 wire format. */
const message = (text: string, more: object = {}): object => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  },
});

/** Returns the results of all frames of a stream. */
async function frames(response: Response): Promise<any[]> {
  const text = await response.text();
  return [...text.matchAll(/^data: (.*)$/gm)].map(
    ([, data = '']) => (JSON.parse(data) as { result: unknown }).result,
  );
}

const status = (state: string, text?: string, more: object = {}): object => ({
  kind: 'status-update',
  status: {
    state,
    ...(text !== undefined && { message: { role: 'agent', parts: [{ kind: 'text', text }] } }),
  },
  ...more,
});

describe('primed responses', () => {
  it('plays primed responses in order, without other events', async () => {
    const server = await start();
    server.prime([
      status('working', 'one', { final: false, metadata: { step: 1 } }),
      {
        kind: 'artifact-update',
        artifact: { artifact_id: 'a', parts: [{ kind: 'text', text: 'x' }] },
        last_chunk: true,
      },
      status('completed', 'done', { final: true }),
    ]);
    const events = await frames(await rpc(server.url, 'message/stream', message('hi')));
    expect(events.map(({ kind, status: each, final }) => [kind, each?.state, final])).toEqual([
      ['task', 'submitted', undefined],
      ['status-update', 'working', false],
      ['artifact-update', undefined, undefined],
      ['status-update', 'completed', true],
    ]);
    expect(events[1].metadata).toEqual({ step: 1 });
    expect(events[3]).not.toHaveProperty('metadata');
    expect(new Set(events.map(({ id, taskId }) => taskId ?? id)).size).toBe(1);
  });

  it('replaces the initial and the final event by primed task events', async () => {
    const server = await start();
    server.prime([
      { kind: 'task', id: 'ignored', contextId: 'ignored', status: { state: 'submitted' } },
      {
        kind: 'task',
        status: { state: 'completed', message: { role: 'agent', parts: [{ kind: 'text', text: 'done' }] } },
        artifacts: [
          {
            artifact_id: 'a',
            parts: [{ kind: 'file', file: { name: 'f', mime_type: 'text/csv', bytes: 'YQ==' } }],
          },
        ],
        metadata: { kept: true },
      },
    ]);
    const events = await frames(await rpc(server.url, 'message/stream', message('hi')));
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({ kind: 'task', status: { state: 'submitted' } });
    expect(events[1]).toMatchObject({
      kind: 'task',
      id: events[0].id,
      status: { state: 'completed', message: { parts: [{ text: 'done' }], taskId: events[0].id } },
      artifacts: [{ artifactId: 'a', parts: [{ file: { mimeType: 'text/csv', bytes: 'YQ==' } }] }],
      metadata: { kept: true },
    });
    expect(events[0].id).not.toBe('ignored');
  });

  it('leaves responses after a terminal event to the next message', async () => {
    const server = await start();
    server.prime([status('completed', 'first'), status('working', 'more')]);
    server.prime([status('completed', 'second'), status('failed', 'third')]);
    const client = connect(server.url);
    const texts: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const task = (await client.send(userRequest('hi'))) as Task;
      texts.push([task.status.state, task.status.message?.parts]);
    }
    expect(texts).toEqual([
      ['completed', [{ text: 'first' }]],
      ['completed', [{ text: 'second' }]],
      ['failed', [{ text: 'third' }]],
    ]);
    expect(server.primedCount).toBe(0);
  });

  it('consumes filtered responses only for matching messages', async () => {
    const server = await start();
    server.prime([status('completed', 'for bob')], { match: ({ text }) => text.includes('bob') });
    server.prime([status('completed', 'for all')]);
    const client = connect(server.url);
    expect(await client.send(userRequest('alice'))).toMatchObject({
      status: { message: { parts: [{ text: 'for all' }] } },
    });
    expect(await client.send(userRequest('bob'))).toMatchObject({
      status: { message: { parts: [{ text: 'for bob' }] } },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['not an array', {}, /^responses must be an array/],
    ['not an event', [status('working'), 3], /^responses\[1\] must be an object/],
    ['an unknown kind', [{ kind: 'tsak' }], /^responses\[0\]\.kind must be task, status-update/],
    ['no kind', [{ status: { state: 'working' } }], /^responses\[0\] must have a kind/],
    ['an invalid state', [status('wroking')], /^responses\[0\]\.status\.state must be a task state/],
    [
      'an invalid part',
      [status('working'), { kind: 'artifact-update', artifact: { parts: [{ kind: 'txt' }] } }],
      /^responses\[1\]\.artifact\.parts\[0\] must be a part/,
    ],
    [
      'an invalid 1.0 part',
      [{ statusUpdate: { status: { state: 'TASK_STATE_WORKING', message: { parts: [{ txt: 1 }] } } } }],
      /^responses\[0\]\.statusUpdate\.status\.message\.parts\[0\] must have one of/,
    ],
  ])('rejects an invalid response with its field: %s', async (_name, responses, error) => {
    const server = new TestAgentServer();
    expect(() => server.prime(responses)).toThrow(error);
    expect(server.primedCount).toBe(0);
  });

  it('accepts responses in the 1.0 format', async () => {
    const server = await start();
    server.prime([
      {
        statusUpdate: {
          status: { state: 'TASK_STATE_WORKING', message: { role: 'ROLE_AGENT', parts: [{ text: 'go' }] } },
        },
      },
      {
        artifact_update: {
          artifact: {
            artifactId: 'a',
            parts: [{ data: [1] }, { url: 'https://a.test/', mediaType: 'text/html' }],
          },
        },
      },
      { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
    ]);
    const events = await collectStream(connect(server.url).stream(userRequest('hi')));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'task']);
    expect(events[2]).toMatchObject({
      artifact: { parts: [{ data: [1] }, { url: 'https://a.test/', mediaType: 'text/html' }] },
    });
  });

  it('responds with a primed direct message', async () => {
    const server = await start();
    server.prime([{ kind: 'message', parts: [{ kind: 'text', text: 'hello' }] }]);
    server.prime([{ kind: 'message', parts: [{ kind: 'text', text: 'hello' }] }]);
    const client = connect(server.url);
    expect(await client.send(userRequest('hi'))).toMatchObject({ role: 'agent', parts: [{ text: 'hello' }] });
    expect((await collectStream(client.stream(userRequest('hi')))).map(({ kind }) => kind)).toEqual([
      'message',
    ]);
  });

  it.each(['input-required', 'auth-required'])(
    'interrupts a task: %s, and plays the next turn for the reply',
    async (state) => {
      const server = await start();
      server.prime([status(state, 'What?'), status('working', 'Thanks'), status('completed', 'done')]);
      const first = await frames(await rpc(server.url, 'message/stream', message('hi')));
      expect(first.map(({ kind, status: each, final }) => [kind, each.state, final])).toEqual([
        ['task', 'submitted', undefined],
        ['status-update', state, true],
      ]);
      const next = await frames(
        await rpc(server.url, 'message/stream', message('this', { taskId: first[0].id })),
      );
      expect(next.map(({ kind, status: each }) => [kind, each.state])).toEqual([
        ['task', state],
        ['status-update', 'working'],
        ['status-update', 'completed'],
      ]);
      expect(server.receivedMessages.map(({ call }) => call?.taskId)).toEqual([first[0].id, first[0].id]);
    },
  );

  it.each(['failed', 'rejected', 'canceled'])('ends a task as %s', async (state) => {
    const server = await start();
    server.prime([status(state, 'why')]);
    const task = await connect(server.url).send(userRequest('hi'));
    expect(task).toMatchObject({ status: { state, message: { parts: [{ text: 'why' }] } } });
  });
});

describe('abandoned task', () => {
  it('closes the stream without a final event and keeps its state', async () => {
    const server = await start();
    server.prime([
      {
        kind: 'task',
        status: { state: 'working', message: { parts: [{ kind: 'text', text: 'Processing' }] } },
      },
    ]);
    const response = await rpc(server.url, 'message/stream', message('hi'));
    const events = await frames(response);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      kind: 'task',
      status: { state: 'working', message: { parts: [{ text: 'Processing' }] } },
    });
    const { id } = events[0] as { id: string };
    const get = (await (await rpc(server.url, 'tasks/get', { id })).json()) as { result: Task };
    expect(get.result.status).toMatchObject({
      state: 'working',
      message: { parts: [{ text: 'Processing' }] },
    });
    const cancel = (await (await rpc(server.url, 'tasks/cancel', { id })).json()) as { result: Task };
    expect(cancel.result.status.state).toBe('canceled');
    expect(server.canceledTaskIds).toEqual([id]);
  });

  it('returns an abandoned task in its current state from a blocking send', async () => {
    const server = await start();
    server.prime([status('working', 'Processing')]);
    const task = (await connect(server.url).send(userRequest('hi'))) as Task;
    expect(task.status).toMatchObject({ state: 'working', message: { parts: [{ text: 'Processing' }] } });
    const again = await frames(await rpc(server.url, 'tasks/resubscribe', { id: task.id }));
    expect(again.map(({ kind, status: each }) => [kind, each.state])).toEqual([['task', 'working']]);
  });

  it('ends the stream with final: true in a non-terminal state', async () => {
    const server = await start();
    server.prime([status('working', 'bye', { final: true })]);
    const events = await frames(await rpc(server.url, 'message/stream', message('hi')));
    expect(events.map(({ kind, final }) => [kind, final])).toEqual([
      ['task', undefined],
      ['status-update', true],
    ]);
  });
});

describe('request interception', () => {
  it('checks credentials before injected errors, and rejects the first request with failOnce', async () => {
    const server = await start({ basePath: '/a2a' });
    server.requireAuth({ type: 'bearer', expectedValue: 'secret', failOnce: true });
    server.injectHttpError({ status: 503 });
    server.prime([status('completed')]);
    const send = (token: string): Promise<Response> =>
      rpc(server.endpoint, 'message/send', message('hi'), { Authorization: `Bearer ${token}` });
    expect((await send('secret')).status).toBe(401);
    expect((await send('wrong')).status).toBe(401);
    const failed = await send('secret');
    expect([failed.status, await failed.json()]).toEqual([503, { error: 'HTTP 503' }]);
    expect((await send('secret')).status).toBe(200);
    expect((await fetch(server.cardUrl)).status).toBe(200);
    expect(server.journal.entries({ method: 'POST' }).map(({ responseOrigin }) => responseOrigin)).toEqual([
      'auth-validation',
      'auth-validation',
      'http-error',
      'agent',
    ]);
    expect(server.lastRequest?.headers.authorization).toBe('Bearer secret');
    server.clearAuthValidation();
    server.requireAuth({ type: 'apikey', expectedValue: 'key' });
    expect((await rpc(server.endpoint, 'message/send', message('hi'))).status).toBe(401);
    expect((await rpc(server.endpoint, 'message/send', message('hi'), { 'X-API-Key': 'key' })).status).toBe(
      200,
    );
  });

  it('serves the card at the root with the URL of the base path', async () => {
    const server = await start({ basePath: '/a2a', card: { name: 'Downstream' } });
    expect(await (await fetch(server.cardUrl)).json()).toMatchObject({
      name: 'Downstream',
      url: `${server.url}/a2a`,
    });
    expect((await rpc(server.endpoint, 'message/send', message('hi'))).status).toBe(200);
  });
});

describe('response selection', () => {
  const scripted = 'rules:\n  - when: { text: hello }\n    then: [{ complete: scripted }]\n';
  const statusParts = (task: unknown): unknown => (task as Task).status.message?.parts;

  it('uses directives, then primed responses, then the script', async () => {
    const server = await start({ script: scripted });
    const client = connect(server.url);
    const json = Buffer.from(JSON.stringify([[status('completed', 'directed')]])).toString('base64');
    server.prime([status('completed', 'primed')]);
    const texts = [`hello [test_case_id=a][responses_json=${json}]`, 'hello', 'hello', 'bye'];
    const responses: unknown[] = [];
    for (const text of texts) responses.push(statusParts(await client.send(userRequest(text))));
    expect(responses.slice(0, 3)).toEqual([
      [{ text: 'directed' }],
      [{ text: 'primed' }],
      [{ text: 'scripted' }],
    ]);
    expect(responses[3]).toEqual([
      { text: expect.stringMatching(/^No rule of the mock script matches.*bye/) },
    ]);
  });

  it('plays delays and stops when the task is canceled', async () => {
    const clock = new VirtualClock();
    const wait = 'rules:\n  - then: [{ say: soon }, { wait: 10m }, { complete: late }]\n';
    const server = await start({ script: wait, clock });
    const client = connect(server.url);
    const startTask = (): Promise<unknown> =>
      client.send({ ...userRequest('hi'), configuration: { returnImmediately: true } });
    const [first, second] = (await Promise.all([startTask(), startTask()])) as [Task, Task];
    await clock.advance(599_000);
    expect((await client.getTask({ id: first.id })).status.state).toBe('working');
    expect((await client.cancelTask({ id: first.id })).status.state).toBe('canceled');
    await clock.advance(1_000);
    expect((await client.getTask({ id: first.id })).status.state).toBe('canceled');
    expect((await client.getTask({ id: second.id })).status.state).toBe('completed');
  });

  it('injects faults at most `times` times', async () => {
    const server = await start();
    server.injectFaults([{ kind: 'http', status: 503, times: 1 }]);
    server.prime([status('completed'), status('completed')]);
    expect((await rpc(server.url, 'message/send', message('hi'))).status).toBe(503);
    expect((await rpc(server.url, 'message/send', message('hi'))).status).toBe(200);
    expect(server.journal.entries({ status: 503 })).toHaveLength(1);
  });
});
