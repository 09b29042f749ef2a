/** The gRPC client with servers that break rules, refuse calls or stop answering. */
import { once } from 'node:events';
import {
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ClientWarning, connect, type ConnectOptions } from '../../../src/client/index.ts';
import { encodeFrame } from '../../../src/dialects/protobuf/encode-message.ts';
import { writeGrpcStatus } from '../../../src/dialects/protobuf/grpc-status.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream } from '../../support/collect-stream.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { startTcpRelay } from '../../support/http/tcp-relay.ts';

const open = closeAfterEach();

type Handler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, count: number) => void;

interface Peer {
  readonly address: string;
  readonly server: Http2Server;
  readonly sessions: ServerHttp2Session[];
  readonly calls: IncomingHttpHeaders[];
}

/** Starts an HTTP/2 server that answers each call with a function. */
async function startPeer(handle: Handler): Promise<Peer> {
  const server = createServer();
  const sessions: ServerHttp2Session[] = [];
  const calls: IncomingHttpHeaders[] = [];
  server.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    stream.resume();
    calls.push(headers);
    handle(stream, headers, calls.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: async () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  });
  return { address: `grpc://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sessions, calls };
}

const warnings: ClientWarning[] = [];
function connectTo({ address }: Peer, options: ConnectOptions = {}) {
  warnings.length = 0;
  const agent = connect(address, {
    versions: ['1.0'],
    random: () => 0,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  open.push({ close: () => agent.close() });
  return agent;
}

const contentType = { ':status': 200, 'content-type': 'application/grpc' };
const taskJson = (state: string) => ({ id: 't', contextId: 'c', status: { state: `TASK_STATE_${state}` } });
const task = (state = 'COMPLETED') => encodeFrame(messages1_0.Task, taskJson(state));
const event = (state: string) => encodeFrame(messages1_0.StreamResponse, { task: taskJson(state) });
const sent = () => encodeFrame(messages1_0.SendMessageResponse, { task: taskJson('COMPLETED') });

/** Responds with messages and a status. */
function respond(
  stream: ServerHttp2Stream,
  messages: readonly Uint8Array[],
  trailers: object = { 'grpc-status': '0' },
  headers: object = {},
): void {
  stream.respond({ ...contentType, ...headers }, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ ...trailers }));
  for (const message of messages) stream.write(message);
  stream.end();
}

/** Responds with a status alone. */
const refuse = (stream: ServerHttp2Stream, error: A2AError, more: object = {}): void =>
  stream.respond({ ...contentType, ...writeGrpcStatus(error), ...more }, { endStream: true });

const tooLarge = Buffer.from([0, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3]);
const compressed = Buffer.from([1, 0, 0, 0, 1, 0]);

/** Returns the frame of a message that is compressed with gzip. */
function gzipFrame(message: Uint8Array): Buffer {
  const bytes = gzipSync(message);
  const prefix = Buffer.from([1, 0, 0, 0, 0]);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

describe('messages of a gRPC server', () => {
  it.each<[string, Handler, string, RegExp]>([
    ['no status', (stream) => respond(stream, [task()], {}), 'UNAVAILABLE', /without a status/],
    ['an unknown status', (stream) => respond(stream, [], { 'grpc-status': '99' }), 'INTERNAL_ERROR', /./],
    ['no message', (stream) => respond(stream, []), 'INVALID_AGENT_RESPONSE', /no message/],
    [
      'two messages',
      (stream) => respond(stream, [task(), task()]),
      'INVALID_AGENT_RESPONSE',
      /more than one/,
    ],
    ['an oversized message', (stream) => respond(stream, [tooLarge]), 'INVALID_AGENT_RESPONSE', /too large/],
    ['an unknown compression', (stream) => respond(stream, [compressed]), 'INVALID_AGENT_RESPONSE', /gzip/],
    [
      'damaged compression',
      (stream) => respond(stream, [compressed], undefined, { 'grpc-encoding': 'gzip' }),
      'INVALID_AGENT_RESPONSE',
      /damaged/,
    ],
    [
      'a compressed message that is too large',
      (stream) =>
        respond(stream, [gzipFrame(Buffer.alloc(100_000_000))], undefined, { 'grpc-encoding': 'gzip' }),
      'INVALID_AGENT_RESPONSE',
      /too large/,
    ],
    [
      'no trailers',
      (stream) => {
        stream.respond(contentType);
        stream.end(task());
      },
      'UNAVAILABLE',
      /without a status/,
    ],
    [
      'half a message',
      (stream) => respond(stream, [task().subarray(0, -2)]),
      'INVALID_AGENT_RESPONSE',
      /within a message/,
    ],
    [
      'bytes that are no message',
      (stream) => respond(stream, [Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x7f])]),
      'INVALID_AGENT_RESPONSE',
      /ends within a field/,
    ],
    [
      'a web page',
      (stream) => {
        stream.respond({ ':status': 200, 'content-type': 'text/html' });
        stream.end('<html>');
      },
      'INVALID_AGENT_RESPONSE',
      /web page/,
    ],
    ['a reset', (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR), 'UNAVAILABLE', /closed/],
    [
      'metadata that are too large',
      (stream) => stream.respond({ ...contentType, x: 'x'.repeat(70_000) }, { endStream: true }),
      'UNAVAILABLE',
      /closed/,
    ],
    [
      'a Python SDK of 0.3',
      (stream) => respond(stream, [], { 'grpc-status': '12', 'grpc-message': 'TaskNotFoundError: no task' }),
      'TASK_NOT_FOUND',
      /no task/,
    ],
  ])('are checked: %s', async (_name, handle, reason, message) => {
    const peer = await startPeer(handle);
    const agent = connectTo(peer, { maxRetries: 0, limits: { body: 1_000_000 } });
    await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({
      reason,
      message: expect.stringMatching(message),
    });
  });

  it('may be compressed with gzip, one by one', async () => {
    const gzip = { 'grpc-encoding': 'gzip' };
    const peer = await startPeer((stream, _headers, count) => {
      if (count === 1) respond(stream, [gzipFrame(sent().subarray(5))], undefined, gzip);
      else {
        const [working, completed] = [event('WORKING'), event('COMPLETED')] as const;
        respond(
          stream,
          [gzipFrame(working.subarray(5)), working, gzipFrame(completed.subarray(5))],
          undefined,
          gzip,
        );
      }
    });
    const agent = connectTo(peer);
    expect(await agent.send('x')).toMatchObject({ id: 't', status: { state: 'completed' } });
    expect(peer.calls[0]?.['grpc-accept-encoding']).toBe('identity,gzip');
    const events = await collectStream(agent.stream('x'));
    expect(events.at(-1)).toMatchObject({ task: { status: { state: 'completed' } } });
  });

  it('limits the events of a stream, and skips those that cannot be read', async () => {
    const peer = await startPeer((stream, _headers, count) =>
      respond(
        stream,
        count === 1 ? [event('WORKING'), tooLarge] : [compressed.fill(0, 0, 1), event('COMPLETED')],
      ),
    );
    const agent = connectTo(peer, { limits: { frame: 1_000 } });
    await expect(collectStream(agent.stream('x'))).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      hint: expect.stringContaining('limits.frame'),
    });
    expect(await collectStream(agent.stream('x'))).toHaveLength(1);
    expect(warnings.at(-1)).toMatchObject({ kind: 'frame' });
  });
});

describe('calls of gRPC', () => {
  it('carry version, extensions, headers and a deadline, and are canceled by a reset', async () => {
    const closed = createDeferred();
    let code = 0;
    const peer = await startPeer((stream) => {
      stream.once('close', () => {
        code = stream.rstCode;
        closed.resolve();
      });
    });
    const agent = connectTo(peer, { headers: { 'X-Team': 'blue' }, timeouts: { send: 70_000 } });
    const abort = new AbortController();
    const sending = agent.send('x', { signal: abort.signal, extensions: ['urn:one', 'urn:two'] });
    const [session] = peer.sessions.length > 0 ? peer.sessions : await once(peer.server, 'session');
    if (peer.calls.length === 0) await once(session, 'stream');
    expect(peer.calls[0]).toMatchObject({
      ':path': '/lf.a2a.v1.A2AService/SendMessage',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': 'dragoman',
      'a2a-version': '1.0',
      'a2a-extensions': 'urn:one,urn:two',
      'x-team': 'blue',
      'grpc-timeout': '70000m',
    });
    abort.abort();
    await expect(sending).rejects.toMatchObject({ reason: 'CANCELED' });
    await closed.promise;
    expect(code).toBe(constants.NGHTTP2_CANCEL);
  });

  it('share one connection, and use another one after GOAWAY', async () => {
    const peer = await startPeer((stream) => respond(stream, [task()]));
    const agent = connectTo(peer);
    await Promise.all(Array.from({ length: 20 }, () => agent.getTask({ id: 't' })));
    expect(peer.sessions).toHaveLength(1);
    const closed = once(peer.sessions[0] as ServerHttp2Session, 'close');
    peer.sessions[0]?.close();
    await closed;
    await agent.getTask({ id: 't' });
    expect(peer.sessions).toHaveLength(2);
  });

  it('open no more streams than the server allows', async () => {
    const waiting: ServerHttp2Stream[] = [];
    const peer = await startPeer((stream) => {
      waiting.push(stream);
      if (waiting.length === 4) for (const each of waiting.splice(0)) respond(each, [task()]);
    });
    peer.server.updateSettings({ maxConcurrentStreams: 2 });
    const agent = connectTo(peer, { maxConnections: 2 });
    await Promise.all(Array.from({ length: 8 }, () => agent.getTask({ id: 't' })));
    expect(peer.sessions).toHaveLength(2);
  });

  it('are repeated if the server did not process them', async () => {
    const peer = await startPeer((stream, _headers, count) => {
      if (count === 1) stream.close(constants.NGHTTP2_REFUSED_STREAM);
      else if (count === 2)
        refuse(stream, new A2AError('RESOURCE_EXHAUSTED'), { 'grpc-retry-pushback-ms': '1' });
      else respond(stream, [sent()]);
    });
    const agent = connectTo(peer, { clock: instantClock() });
    expect(await agent.send('x')).toMatchObject({ id: 't' });
    expect(peer.calls).toHaveLength(3);
  });

  it('are repeated on another connection if GOAWAY excludes them', async () => {
    let first: ServerHttp2Stream | undefined;
    const peer = await startPeer((stream, _headers, count) => {
      if (count === 1) first = stream;
      else if (count === 2) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, first?.id);
      else {
        respond(stream, [sent()]);
        if (first) respond(first, [sent()]);
      }
    });
    const agent = connectTo(peer, { clock: instantClock() });
    const both = [agent.send('x'), agent.send('y')];
    expect(await Promise.all(both)).toMatchObject([{ id: 't' }, { id: 't' }]);
    expect(peer.calls).toHaveLength(3);
    expect(peer.sessions).toHaveLength(2);
  });

  it('are not repeated if the server may have processed them', async () => {
    const peer = await startPeer((stream) => refuse(stream, new A2AError('UNAVAILABLE', 'busy')));
    const agent = connectTo(peer, { clock: instantClock() });
    await expect(agent.send('x')).rejects.toMatchObject({ reason: 'UNAVAILABLE', message: 'busy' });
    expect(peer.calls).toHaveLength(1);
    await expect(agent.getTask({ id: 't' })).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(peer.calls).toHaveLength(5);
  });

  it('resume a stream that a stopping server ends', async () => {
    const peer = await startPeer((stream, headers, count) => {
      if (count === 1) respond(stream, [event('WORKING')], writeGrpcStatus(new A2AError('UNAVAILABLE')));
      else {
        expect(headers[':path']).toMatch(/SubscribeToTask$/);
        respond(stream, [event('COMPLETED')]);
      }
    });
    const events = await collectStream(connectTo(peer, { clock: instantClock() }).stream('x'));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'status']);
    expect(warnings).toMatchObject([{ kind: 'resume' }]);
  });

  it('wait for a reader that is slow', async () => {
    const chunk = encodeFrame(messages1_0.StreamResponse, {
      artifactUpdate: {
        taskId: 't',
        contextId: 'c',
        append: true,
        artifact: { artifactId: 'a', parts: [{ text: 'x'.repeat(100_000) }] },
      },
    });
    let written = 0;
    const blocked = createDeferred();
    const peer = await startPeer((stream) => {
      stream.respond(contentType, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.write(event('WORKING'));
      const write = (): void => {
        while (written < 200) {
          written++;
          if (!stream.write(chunk)) {
            blocked.resolve();
            stream.once('drain', write);
            return;
          }
        }
        stream.end(event('COMPLETED'));
      };
      write();
    });
    const iterator = connectTo(peer).stream('x')[Symbol.asyncIterator]();
    await iterator.next();
    await blocked.promise;
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(100);
    const rest = await collectStream({ [Symbol.asyncIterator]: () => iterator });
    expect(rest).toHaveLength(201);
  });

  it('test a silent connection, and resume a stream whose server does not answer', async () => {
    const clock = new ManualClock();
    const peer = await startPeer((stream, _headers, count) => {
      if (count > 1) {
        respond(stream, [event('COMPLETED')]);
        return;
      }
      stream.respond(contentType);
      stream.write(event('WORKING'));
    });
    const relay = await startTcpRelay((peer.server.address() as AddressInfo).port);
    open.push({ close: () => relay.remove() });
    const address = `grpc://127.0.0.1:${relay.port}`;
    const agent = connectTo({ ...peer, address }, { clock, timeouts: { idle: 5_000, connect: 1_000 } });
    const iterator = agent.stream('x')[Symbol.asyncIterator]();
    await iterator.next();
    const next = iterator.next();
    const [session] = peer.sessions;
    const pinged = once(session as ServerHttp2Session, 'ping');
    const nextPing = clock.waitForDelay((delay) => delay === 5_000);
    clock.advance(5_000);
    await pinged;
    // The answer schedules the next ping.
    await nextPing;
    relay.silence();
    clock.advance(5_000);
    const resumed = clock.waitForDelay((delay) => delay === 0);
    clock.advance(1_000);
    await resumed;
    clock.advance(0);
    expect(await next).toMatchObject({ value: { kind: 'status', status: { state: 'completed' } } });
    expect(warnings).toMatchObject([{ kind: 'resume' }]);
  });
});

it('sends fewer pings after a complaint of the server', async () => {
  const clock = new ManualClock();
  const peer = await startPeer((stream) => {
    stream.respond(contentType);
    stream.write(event('WORKING'));
  });
  const agent = connectTo(peer, { clock, timeouts: { idle: 5_000 } });
  const iterator = agent.stream('x')[Symbol.asyncIterator]();
  await iterator.next();
  const next = iterator.next().catch(() => undefined);
  const resumed = clock.waitForDelay((delay) => delay === 0);
  const slower = clock.waitForDelay((delay) => delay === 10_000);
  peer.sessions[0]?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 1, Buffer.from('too_many_pings'));
  await resumed;
  clock.advance(0);
  await slower;
  await agent.close();
  await next;
});

/** A clock whose timers for retries fire at once. */
function instantClock(): ManualClock {
  return new (class extends ManualClock {
    override after(milliseconds: number, run: () => void): () => void {
      if (milliseconds <= 1_000) setImmediate(() => this.advance(milliseconds));
      return super.after(milliseconds, run);
    }
  })();
}
