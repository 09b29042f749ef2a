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

async function started(options?: TestAgentOptions): Promise<TestAgentServer> {
  const server = await TestAgentServer.start(options);
  servers.push(server);
  return server;
}

const say = (text: string, more: object = {}): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...more },
});

/** A request of 0.3, as it is on the wire. */
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

/** A message of 0.3, as it is on the wire. */
const message = (text: string, more: object = {}): object => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  },
});

/** The results of all frames of a stream. */
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
  it('are played in their order, and nothing but them', async () => {
    const server = await started();
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

  it('that begin with a task begin the stream, and end it', async () => {
    const server = await started();
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

  it('are left to the next message after one that ends a task', async () => {
    const server = await started();
    server.prime([status('completed', 'first'), status('working', 'more')]);
    server.prime([status('completed', 'second'), status('failed', 'third')]);
    const client = connect(server.url);
    const texts: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const task = (await client.send(say('hi'))) as Task;
      texts.push([task.status.state, task.status.message?.parts]);
    }
    expect(texts).toEqual([
      ['completed', [{ text: 'first' }]],
      ['completed', [{ text: 'second' }]],
      ['failed', [{ text: 'third' }]],
    ]);
    expect(server.primedCount).toBe(0);
  });

  it('may be for some messages only', async () => {
    const server = await started();
    server.prime([status('completed', 'for bob')], { match: ({ text }) => text.includes('bob') });
    server.prime([status('completed', 'for all')]);
    const client = connect(server.url);
    expect(await client.send(say('alice'))).toMatchObject({
      status: { message: { parts: [{ text: 'for all' }] } },
    });
    expect(await client.send(say('bob'))).toMatchObject({
      status: { message: { parts: [{ text: 'for bob' }] } },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ['no list', {}, /^responses must be an array/],
    ['no event', [status('working'), 3], /^responses\[1\] must be an object/],
    ['an unknown kind', [{ kind: 'tsak' }], /^responses\[0\]\.kind must be task, status-update/],
    ['no kind', [{ status: { state: 'working' } }], /^responses\[0\] must have a kind/],
    ['a wrong state', [status('wroking')], /^responses\[0\]\.status\.state must be a task state/],
    [
      'a wrong part',
      [status('working'), { kind: 'artifact-update', artifact: { parts: [{ kind: 'txt' }] } }],
      /^responses\[1\]\.artifact\.parts\[0\] must be a part/,
    ],
    [
      'a wrong part of 1.0',
      [{ statusUpdate: { status: { state: 'TASK_STATE_WORKING', message: { parts: [{ txt: 1 }] } } } }],
      /^responses\[0\]\.statusUpdate\.status\.message\.parts\[0\] must have one of/,
    ],
  ])('are refused at once with the place: %s', async (_what, responses, complaint) => {
    const server = new TestAgentServer();
    expect(() => server.prime(responses)).toThrow(complaint);
    expect(server.primedCount).toBe(0);
  });

  it('are read in the words of 1.0 as well', async () => {
    const server = await started();
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
    const events = await collectStream(connect(server.url).stream(say('hi')));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status', 'artifact', 'task']);
    expect(events[2]).toMatchObject({
      artifact: { parts: [{ data: [1] }, { url: 'https://a.test/', mediaType: 'text/html' }] },
    });
  });

  it('may be a direct answer', async () => {
    const server = await started();
    server.prime([{ kind: 'message', parts: [{ kind: 'text', text: 'hello' }] }]);
    server.prime([{ kind: 'message', parts: [{ kind: 'text', text: 'hello' }] }]);
    const client = connect(server.url);
    expect(await client.send(say('hi'))).toMatchObject({ role: 'agent', parts: [{ text: 'hello' }] });
    expect((await collectStream(client.stream(say('hi')))).map(({ kind }) => kind)).toEqual(['message']);
  });

  it.each(['input-required', 'auth-required'])(
    'may ask: %s, and the answer is the next turn',
    async (state) => {
      const server = await started();
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

  it.each(['failed', 'rejected', 'canceled'])('may end a task as %s', async (state) => {
    const server = await started();
    server.prime([status(state, 'why')]);
    const task = await connect(server.url).send(say('hi'));
    expect(task).toMatchObject({ status: { state, message: { parts: [{ text: 'why' }] } } });
  });
});

describe('a test agent that hangs up', () => {
  it('ends the stream without a word and leaves the task as it is', async () => {
    const server = await started();
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

  it('answers a message that waits with the task as it stands', async () => {
    const server = await started();
    server.prime([status('working', 'Processing')]);
    const task = (await connect(server.url).send(say('hi'))) as Task;
    expect(task.status).toMatchObject({ state: 'working', message: { parts: [{ text: 'Processing' }] } });
    const again = await frames(await rpc(server.url, 'tasks/resubscribe', { id: task.id }));
    expect(again.map(({ kind, status: each }) => [kind, each.state])).toEqual([['task', 'working']]);
  });

  it('says what it was told to say when a stream is final and its task is not', async () => {
    const server = await started();
    server.prime([status('working', 'bye', { final: true })]);
    const events = await frames(await rpc(server.url, 'message/stream', message('hi')));
    expect(events.map(({ kind, final }) => [kind, final])).toEqual([
      ['task', undefined],
      ['status-update', true],
    ]);
  });
});

describe('the door of a test agent', () => {
  it('refuses wrong credentials before anything else, and the first ones if told to', async () => {
    const server = await started({ basePath: '/a2a' });
    server.requireAuth({ type: 'bearer', expectedValue: 'secret', failOnce: true });
    server.injectHttpError({ status: 503 });
    server.prime([status('completed')]);
    const ask = (token: string): Promise<Response> =>
      rpc(server.endpoint, 'message/send', message('hi'), { Authorization: `Bearer ${token}` });
    expect((await ask('secret')).status).toBe(401);
    expect((await ask('wrong')).status).toBe(401);
    const failed = await ask('secret');
    expect([failed.status, await failed.json()]).toEqual([503, { error: 'HTTP 503' }]);
    expect((await ask('secret')).status).toBe(200);
    expect((await fetch(server.cardUrl)).status).toBe(200);
    expect(
      server.journal.entries({ method: 'POST' }).map(({ responseOrigin: answeredBy }) => answeredBy),
    ).toEqual(['auth-validation', 'auth-validation', 'http-error', 'agent']);
    expect(server.lastRequest?.headers.authorization).toBe('Bearer secret');
    server.clearAuthValidation();
    server.requireAuth({ type: 'apikey', expectedValue: 'key' });
    expect((await rpc(server.endpoint, 'message/send', message('hi'))).status).toBe(401);
    expect((await rpc(server.endpoint, 'message/send', message('hi'), { 'X-API-Key': 'key' })).status).toBe(
      200,
    );
  });

  it('shows the card at the root, with the address below it', async () => {
    const server = await started({ basePath: '/a2a', card: { name: 'Downstream' } });
    expect(await (await fetch(server.cardUrl)).json()).toMatchObject({
      name: 'Downstream',
      url: `${server.url}/a2a`,
    });
    expect((await rpc(server.endpoint, 'message/send', message('hi'))).status).toBe(200);
  });
});

describe('what a test agent does', () => {
  const scripted = 'rules:\n  - when: { text: hello }\n    then: [{ complete: scripted }]\n';
  const words = (task: unknown): unknown => (task as Task).status.message?.parts;

  it('is said by directives, then by what is primed, then by its script', async () => {
    const server = await started({ script: scripted });
    const client = connect(server.url);
    const json = Buffer.from(JSON.stringify([[status('completed', 'directed')]])).toString('base64');
    server.prime([status('completed', 'primed')]);
    const texts = [`hello [test_case_id=a][responses_json=${json}]`, 'hello', 'hello', 'bye'];
    const said: unknown[] = [];
    for (const text of texts) said.push(words(await client.send(say(text))));
    expect(said.slice(0, 3)).toEqual([[{ text: 'directed' }], [{ text: 'primed' }], [{ text: 'scripted' }]]);
    expect(said[3]).toEqual([{ text: expect.stringMatching(/^No rule of the script matches.*bye/) }]);
  });

  it('takes its time, and stops when the task is canceled', async () => {
    const clock = new VirtualClock();
    const wait = 'rules:\n  - then: [{ say: soon }, { wait: 10m }, { complete: late }]\n';
    const server = await started({ script: wait, clock });
    const client = connect(server.url);
    const begin = (): Promise<unknown> =>
      client.send({ ...say('hi'), configuration: { returnImmediately: true } });
    const [first, second] = (await Promise.all([begin(), begin()])) as [Task, Task];
    await clock.advance(599_000);
    expect((await client.getTask({ id: first.id })).status.state).toBe('working');
    expect((await client.cancelTask({ id: first.id })).status.state).toBe('canceled');
    await clock.advance(1_000);
    expect((await client.getTask({ id: first.id })).status.state).toBe('canceled');
    expect((await client.getTask({ id: second.id })).status.state).toBe('completed');
  });

  it('goes wrong as it is told to, and only so often', async () => {
    const server = await started();
    server.injectFaults([{ kind: 'http', status: 503, times: 1 }]);
    server.prime([status('completed'), status('completed')]);
    expect((await rpc(server.url, 'message/send', message('hi'))).status).toBe(503);
    expect((await rpc(server.url, 'message/send', message('hi'))).status).toBe(200);
    expect(server.journal.entries({ status: 503 })).toHaveLength(1);
  });
});
