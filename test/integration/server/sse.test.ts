import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalAgent } from '../../../src/engine/index.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { lintStream } from '../../../src/protocol/lint-stream.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import { isTask } from '../../../src/protocol/task.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { type TestSseFrame, streamSseFrames, readSseFrames } from '../../support/http/sse-frames.ts';
import { stubAgent } from '../../support/agent-stub.ts';
import { userMessage, streamClients } from '../../support/server/stream-clients.ts';
import { httpPost } from '../../support/http/http-calls.ts';

let agent: LocalAgent;
let server: RunningServer;

beforeAll(async () => {
  agent = sampleAgent();
  server = await serve(agent);
});
afterAll(async () => {
  await server.stop();
  await agent.close();
});

const taskIdOf = (events: readonly StreamEvent[]): string => {
  const task = reduce(events);
  if (!task || !isTask(task)) throw new Error('These events tell of no task');
  return task.id;
};

/** In 0.1 each connection repeats, in extra frames, what the version cannot represent. */
const withoutCarried = (frames: readonly TestSseFrame[]): unknown =>
  JSON.parse(JSON.stringify(frames), (key, value: unknown) => (key === 'metadata' ? undefined : value));

describe.each(streamClients)('SSE stream of $name', (client) => {
  it('sends a valid event sequence with an id for every event', async () => {
    const message = userMessage('stream');
    const response = await client.stream(server.url, message);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    const frames = await readSseFrames(response);
    expect(frames).toHaveLength(8);
    expect(frames.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    if (!client.isRest) for (const { data } of frames) expect(data).toMatchObject({ jsonrpc: '2.0', id: 7 });
    const events = client.events(frames, message);
    expect(lintStream(events)).toEqual([]);
    expect(reduce(events)).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: '01234' }] }],
    });
  });

  it('resumes after Last-Event-ID when the message is resent', async () => {
    const message = userMessage('stream');
    const whole = await readSseFrames(await client.stream(server.url, message));
    for (const [i, { id }] of whole.entries()) {
      const rest = await readSseFrames(
        await client.stream(server.url, message, { 'last-event-id': String(id) }),
      );
      expect(withoutCarried(rest)).toEqual(withoutCarried(whole.slice(i + 1)));
    }
  });

  it('resumes after Last-Event-ID when subscribing', async () => {
    const message = userMessage('stream');
    const whole = await readSseFrames(await client.stream(server.url, message));
    const id = taskIdOf(client.events(whole, message));
    const rest = await readSseFrames(await client.subscribe(server.url, id, { 'last-event-id': '3' }));
    expect(withoutCarried(rest)).toEqual(withoutCarried(whole.slice(3)));
  });

  it('resumes during a running task after a disconnect', async () => {
    const message = userMessage('slow');
    const broken = streamSseFrames(await client.stream(server.url, message));
    const seen = [(await broken.next()).value, (await broken.next()).value];
    await broken.return(undefined);
    const id = taskIdOf(client.events(seen, message));
    const header = { 'last-event-id': String(seen[1]?.id) };
    const mended = await Promise.all([
      client.stream(server.url, message, header),
      client.subscribe(server.url, id, header),
    ]);
    await agent.cancelTask({ id });
    for (const response of mended) {
      const rest = await readSseFrames(response);
      expect(rest.map((frame) => frame.id)).toEqual([3, 4]);
      const events = client.events([...seen, ...rest], message);
      expect(lintStream(events)).toEqual([]);
      expect(events.at(-1)).toMatchObject({ status: { state: 'canceled' } });
    }
  });

  it('keeps two artifacts separate after resume', async () => {
    const message = userMessage('two');
    const whole = await readSseFrames(await client.stream(server.url, message));
    const id = taskIdOf(client.events(whole, message));
    const rest = await readSseFrames(await client.subscribe(server.url, id, { 'last-event-id': '4' }));
    expect(withoutCarried(rest)).toEqual(withoutCarried(whole.slice(4)));
    expect(client.events(rest, message).filter(({ kind }) => kind === 'artifact')).toMatchObject([
      { artifact: { artifactId: 'second', parts: [{ text: 'c' }] }, append: true },
    ]);
  });

  it.each(['abc', '-1', '1e99', '999'])('ignores the invalid Last-Event-ID %s', async (number) => {
    const header = { 'last-event-id': number };
    const message = userMessage('stream');
    const whole = await readSseFrames(await client.stream(server.url, message, header));
    expect(whole.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(reduce(client.events(whole, message))).toMatchObject({
      status: { state: 'completed' },
      artifacts: [{ parts: [{ text: '01234' }] }],
    });
    const firstMessage = userMessage('ask');
    const frames = await readSseFrames(await client.stream(server.url, firstMessage));
    const id = taskIdOf(client.events(frames, firstMessage));
    const following = streamSseFrames(await client.subscribe(server.url, id, header));
    const first = client.events([(await following.next()).value], userMessage('', { taskId: id }));
    expect(first[0]).toMatchObject({ kind: 'task', task: { id, status: { state: 'input-required' } } });
    await following.return(undefined);
  });

  it('starts with a snapshot for later subscribers, then sends all the same events', async () => {
    const message = userMessage('slow');
    const first = streamSseFrames(await client.stream(server.url, message));
    const seen = [];
    for (let i = 0; i < 3; i++) seen.push((await first.next()).value);
    const id = taskIdOf(client.events(seen, message));
    const others = await Promise.all([1, 2, 3].map(() => client.subscribe(server.url, id)));
    await agent.cancelTask({ id });
    for await (const frame of first) seen.push(frame);
    const [one, two, three] = await Promise.all(others.map(readSseFrames));
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    expect(one).toHaveLength(2);
    expect(one?.at(-1)).toEqual(seen.at(-1));
    const events = client.events(one ?? [], userMessage('', { taskId: id }));
    expect(lintStream(events)).toEqual([]);
    expect(events[0]).toMatchObject({ kind: 'task', task: { id, status: { state: 'working' } } });
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'canceled' } });
  });

  it('keeps a subscription open while the task needs input', async () => {
    const message = userMessage('ask');
    const firstMessage = client.events(
      await readSseFrames(await client.stream(server.url, message)),
      message,
    );
    expect(lintStream(firstMessage)).toEqual([]);
    expect(firstMessage.at(-1)).toMatchObject({ status: { state: 'input-required' } });
    const id = taskIdOf(firstMessage);
    const following = streamSseFrames(await client.subscribe(server.url, id));
    const frames = [(await following.next()).value!];
    await agent.send({ message: userMessage('that', { taskId: id }) });
    for await (const frame of following) frames.push(frame);
    const events = client.events(frames, userMessage('', { taskId: id }));
    expect(lintStream(events)).toEqual([]);
    expect(events[0]).toMatchObject({ kind: 'task', task: { status: { state: 'input-required' } } });
    expect(events.at(-1)).toMatchObject({ status: { state: 'completed' } });
  });

  it('stays open while the task needs authorization', async () => {
    const message = userMessage('auth');
    const following = streamSseFrames(await client.stream(server.url, message));
    const frames = [];
    for (let i = 0; i < 3; i++) frames.push((await following.next()).value);
    const id = taskIdOf(client.events(frames, message));
    await agent.send({ message: userMessage('signed', { taskId: id }) });
    for await (const frame of following) frames.push(frame);
    const events = client.events(frames, message);
    expect(lintStream(events)).toEqual([]);
    expect(events.at(-1)).toMatchObject({ status: { state: 'completed' } });
  });

  it('rejects a subscription to a finished task in 1.0 and returns the task in earlier versions', async () => {
    const message = userMessage('hello');
    const whole = await readSseFrames(await client.stream(server.url, message));
    const id = taskIdOf(client.events(whole, message));
    const response = await client.subscribe(server.url, id);
    if (client.dialect.version === '1.0') {
      expect(response.status).toBe(client.isRest ? 400 : 200);
      const { error } = (await response.json()) as any;
      expect(error.code).toBe(client.isRest ? 400 : -32004);
      expect((error.details ?? error.data)[0]).toMatchObject({ reason: 'UNSUPPORTED_OPERATION' });
      return;
    }
    const frames = await readSseFrames(response);
    const last = client.isRest ? frames.at(-1)?.data.statusUpdate : frames.at(-1)?.data.result;
    expect(last).toMatchObject({ final: true });
    const events = client.events(frames, userMessage('', { taskId: id }));
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect(reduce(events)).toMatchObject({ artifacts: [{ parts: [{ text: 'hello' }] }] });
  });

  it('responds with an error to a subscription to an unknown task', async () => {
    const response = await client.subscribe(server.url, 'no-such-task');
    expect(response.headers.get('content-type')).toMatch(/^application\/(a2a\+)?json$/);
    expect(response.status).toBe(client.isRest ? 404 : 200);
    const body = (await response.json()) as any;
    expect((body.error ?? body).code).toBe(client.isRest && client.dialect.version === '1.0' ? 404 : -32001);
  });
});

describe('subscribe by POST', () => {
  it.each([
    ['/tasks', { 'a2a-version': '1.0' }],
    ['/v1/tasks', {}],
  ])('equals GET at %s', async (path, headers) => {
    const task = await agent.send({
      message: userMessage('slow'),
      configuration: { returnImmediately: true },
    });
    if (!isTask(task)) throw new Error('This is no task');
    const url = `${server.url}${path}/${task.id}:subscribe`;
    const [byGet, byPost] = await Promise.all([
      fetch(url, { headers }),
      fetch(url, {
        method: 'POST',
        body: 'null',
        headers: { ...headers, 'content-type': 'application/json' },
      }),
    ]);
    await agent.cancelTask({ id: task.id });
    const frames = await readSseFrames(byGet);
    expect(await readSseFrames(byPost)).toEqual(frames);
    expect(frames).toHaveLength(2);
  });
});

describe('idle SSE stream', () => {
  it('sends heartbeat comments', async () => {
    const other = await serve(agent, { heartbeat: 5 });
    const [modern] = streamClients;
    if (!modern) throw new Error('There is no voice');
    const message = userMessage('slow');
    const frames = [];
    for await (const frame of streamSseFrames(await modern.stream(other.url, message))) {
      frames.push(frame);
      if (frames.filter(({ comment }) => comment !== undefined).length < 2) continue;
      if (frames.every(({ data }) => data?.result?.statusUpdate?.status.state !== 'TASK_STATE_CANCELED'))
        await agent.cancelTask({ id: frames[0]?.data.result.task.id });
    }
    expect(lintStream(modern.events(frames, message))).toEqual([]);
    await other.stop();
  });
});

describe('failing SSE stream', () => {
  const broken = stubAgent(sampleAgent(), {
    async *stream(): AsyncGenerator<StreamEvent> {
      yield { kind: 'task', task: { id: 't-1', contextId: 'c-1', status: { state: 'working' } } };
      throw new Error('the secret of the house');
    },
  });

  it.each(streamClients)('sends an error in the format of $name without the cause', async (client) => {
    const other = await serve(broken);
    const frames = await readSseFrames(await client.stream(other.url, userMessage('hi')));
    expect(frames).toHaveLength(2);
    const { data } = frames[1] ?? {};
    expect((data.error ?? data).message).toBe('Internal error');
    expect(JSON.stringify(frames)).not.toContain('secret');
    await other.stop();
  });
});

describe('agent without streaming', () => {
  const quiet = sampleAgent({ streaming: false });

  it.each(streamClients)('returns the error of $name', async (client) => {
    const other = await serve(quiet);
    const { id } = (await quiet.send({ message: userMessage('ask') })) as { id: string };
    for (const response of [
      await client.stream(other.url, userMessage('hi')),
      await client.subscribe(other.url, id),
    ]) {
      expect(response.headers.get('content-type')).toMatch(/json/);
      const body = (await response.json()) as any;
      expect((body.error ?? body).code).toBe(
        client.isRest && client.dialect.version === '1.0' ? 400 : -32004,
      );
    }
    await other.stop();
  });
});

it('responds 429 above maxStreams', async () => {
  const other = await serve(agent, { maxStreams: 0 });
  const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'stream' }] } };
  const rest = await httpPost(`${other.url}/message:stream`, params, { 'a2a-version': '1.0' });
  expect(rest).toMatchObject({ status: 429, json: { error: { status: 'RESOURCE_EXHAUSTED' } } });
  const body = { jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params };
  expect((await httpPost(other.url, body, { 'a2a-version': '1.0' })).status).toBe(429);
  await other.stop();
});
