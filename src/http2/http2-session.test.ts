/** Sessions of both sides against `node:http2` as a peer, and against each other. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect as connectNode,
  createServer as createNodeServer,
} from 'node:http2';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { http2Codes } from './http2-error.ts';
import { Http2Session } from './http2-session.ts';
import type { Http2Stream, StreamHandler } from './http2-stream.ts';
import { type HeaderFields, listFields, type MessageHead } from './message-head.ts';
import type { SessionListener, SessionOptions } from './session-receiver.ts';

const options: SessionOptions = {
  isServer: true,
  maxConcurrentStreams: 100,
  initialWindowSize: 1 << 16,
  sessionWindow: 1 << 18,
  maxHeaderListSize: 64 << 10,
  maxHeaderFields: 100,
};
const opened: { destroy(): void }[] = [];
const servers: { close(): void }[] = [];
afterEach(() => {
  for (const each of opened.splice(0)) each.destroy();
  for (const each of servers.splice(0)) each.close();
});

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

/** A handler that collects the body. */
class Collector implements StreamHandler {
  readonly chunks: Buffer[] = [];
  readonly head: Promise<MessageHead>;
  readonly ended: Promise<HeaderFields | undefined>;
  readonly whenClosed: Promise<{ code: number; error: Error | undefined }>;
  #setHead: (head: MessageHead) => void = () => {};
  #setEnded: (trailers: HeaderFields | undefined) => void = () => {};
  #setClosed: (result: { code: number; error: Error | undefined }) => void = () => {};
  onDrained: () => void = () => {};

  constructor() {
    this.head = new Promise((resolve) => (this.#setHead = resolve));
    this.ended = new Promise((resolve) => (this.#setEnded = resolve));
    this.whenClosed = new Promise((resolve) => (this.#setClosed = resolve));
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  headReceived(head: MessageHead): void {
    this.#setHead(head);
  }

  dataReceived(bytes: Buffer): void {
    this.chunks.push(bytes);
  }

  endReceived(trailers: MessageHead | undefined): void {
    this.#setEnded(trailers?.fields);
  }

  drained(): void {
    this.onDrained();
  }

  closed(code: number, error?: Error): void {
    this.#setClosed({ code, error });
  }
}

/** Starts a server of ours. @param respond - called with each request */
async function startServer(
  respond: (stream: Http2Stream, head: MessageHead) => void,
  more: Partial<SessionOptions> = {},
): Promise<{ port: number; sessions: Http2Session[] }> {
  const sessions: Http2Session[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket: Socket) => {
    const session = new Http2Session(
      socket,
      { ...options, ...more },
      { requestReceived: respond, endReceived: () => session.close(), closed() {} },
    );
    sessions.push(session);
    opened.push(session);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: portOf(server), sessions };
}

/** Repeats the body, with trailers. */
function echo(stream: Http2Stream, head: MessageHead): void {
  const received = new Collector();
  stream.handler = received;
  stream.read();
  void received.ended.then((trailers) => {
    const more = head.fields['x-many'] === undefined ? [] : ['set-cookie', 'a=1', 'set-cookie', 'b=2'];
    stream.sendHead([':status', '200', 'x-path', head.path, ...more], false);
    stream.end(received.body, ['x-trailer', 'last', 'x-received', String(trailers?.['x-sent'] ?? '')]);
  });
}

function nodeClient(port: number, more: object = {}): ClientHttp2Session {
  const session = connectNode(`http://127.0.0.1:${port}`, more);
  session.on('error', () => {});
  opened.push(session);
  return session;
}

/** Sends a request with the client of Node. */
async function requestWithNode(
  session: ClientHttp2Session,
  body: Uint8Array,
  headers: { [name: string]: string | string[] } = {},
) {
  const stream = session.request({ ':method': 'POST', ':path': '/a', ...headers });
  let head: Record<string, unknown> = {};
  let trailers: Record<string, unknown> = {};
  const chunks: Buffer[] = [];
  stream.on('response', (each) => (head = each));
  stream.on('trailers', (each) => (trailers = each));
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('error', () => {});
  stream.end(body);
  await once(stream, 'close');
  return { head, trailers, body: Buffer.concat(chunks), code: stream.rstCode };
}

/** Connects a client of ours. */
async function ourClient(port: number, listener: Partial<SessionListener> = {}): Promise<Http2Session> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return new Promise((resolve) => {
    const { maxConcurrentStreams: _, ...rest } = options;
    const session: Http2Session = new Http2Session(
      socket,
      { ...rest, isServer: false },
      { settingsReceived: () => resolve(session), closed() {}, ...listener },
    );
    opened.push(session);
  });
}

const requestHead = (path: string): string[] =>
  listFields({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': path,
    ':authority': 'localhost',
    'content-type': 'application/grpc',
    te: 'trailers',
  });

function openStream(session: Http2Session, path = '/a'): { stream: Http2Stream; received: Collector } {
  const stream = session.open(requestHead(path));
  const received = new Collector();
  stream.handler = received;
  stream.read();
  return { stream, received };
}

describe('a server, with the client of Node', () => {
  it.each([0, 1, 100, 16_384, 16_385, 1 << 20])('repeats %i bytes with trailers', async (size) => {
    const { port } = await startServer(echo);
    const body = Buffer.alloc(size, 'x');
    const answer = await requestWithNode(nodeClient(port), body, { 'x-many': '1' });
    expect(answer.head).toMatchObject({ ':status': 200, 'x-path': '/a', 'set-cookie': ['a=1', 'b=2'] });
    expect(answer.trailers).toMatchObject({ 'x-trailer': 'last' });
    expect(answer.body.equals(body)).toBe(true);
  });

  it('reads headers that are long, compressed, repeated and changed', async () => {
    const seen: MessageHead[] = [];
    const { port } = await startServer((stream, head) => {
      seen.push(head);
      echo(stream, head);
    });
    const session = nodeClient(port);
    for (let n = 0; n < 50; n++) {
      const metadata = {
        authorization: `Bearer ${'t'.repeat(600)}`,
        'grpc-timeout': `${n}m`,
        [`x-${n % 7}`]: `öé\u00ff${n}`,
        'x-long': 'l'.repeat(n * 400),
        cookie: ['a=1', 'b=2'],
      };
      await requestWithNode(session, Buffer.alloc(0), metadata);
      expect(seen.at(-1)).toMatchObject({
        method: 'POST',
        path: '/a',
        fields: { ...metadata, cookie: 'a=1; b=2', host: `127.0.0.1:${port}` },
      });
    }
  });

  it('answers many requests at a time on one connection', async () => {
    const { port, sessions } = await startServer(echo);
    const session = nodeClient(port);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => requestWithNode(session, Buffer.alloc(n * 1_000, `${n % 10}`))),
    );
    expect(answers.map(({ body }) => body.length)).toEqual(Array.from({ length: 100 }, (_, n) => n * 1_000));
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.streams.size).toBe(0);
  });

  it('sends as fast as the client reads', async () => {
    let stream: Http2Stream | undefined;
    const handler = new Collector();
    const { port } = await startServer((each) => {
      stream = each;
      each.handler = handler;
      each.sendHead([':status', '200'], false);
    });
    const request = nodeClient(port).request({ ':path': '/' });
    await once(request, 'response');
    let sent = 0;
    while (stream?.write('x'.repeat(10_000))) sent += 10_000;
    // The window of a stream has 65,535 bytes.
    expect(sent).toBeLessThanOrEqual(70_000);
    const drained = new Promise<void>((resolve) => (handler.onDrained = resolve));
    let received = 0;
    request.on('data', (chunk: Buffer) => (received += chunk.length));
    await drained;
    expect(stream?.waitingBytes).toBe(0);
    stream?.end();
    await once(request, 'end');
    expect(received).toBe(sent + 10_000);
  });

  it('lets the client send no more than is read', async () => {
    const received = new Collector();
    let stream: Http2Stream | undefined;
    const { port } = await startServer((each) => {
      stream = each;
      each.handler = received;
    });
    const request = nodeClient(port).request({ ':method': 'POST', ':path': '/' });
    request.end(Buffer.alloc(1 << 20));
    await expect.poll(() => stream !== undefined).toBe(true);
    stream?.read();
    stream?.pause();
    await expect.poll(() => received.body.length).toBe(1 << 16);
    stream?.resume();
    await received.ended;
    expect(received.body.length).toBe(1 << 20);
  });

  it('receives and sends resets', async () => {
    const handlers: Collector[] = [];
    const streams: Http2Stream[] = [];
    const { port } = await startServer((stream) => {
      const handler = new Collector();
      handlers.push(handler);
      streams.push(stream);
      stream.handler = handler;
    });
    const session = nodeClient(port);
    const first = session.request({ ':path': '/' });
    first.on('error', () => {});
    await expect.poll(() => handlers.length).toBe(1);
    first.close(http2Codes.cancel);
    expect(await handlers[0]?.whenClosed).toEqual({ code: http2Codes.cancel, error: undefined });
    const second = session.request({ ':path': '/' });
    second.on('error', () => {});
    await expect.poll(() => handlers.length).toBe(2);
    const closed = new Promise((resolve) => second.once('close', resolve));
    streams[1]?.reset(http2Codes.enhanceYourCalm);
    await closed;
    expect(second.rstCode).toBe(http2Codes.enhanceYourCalm);
  });

  it('ends after its last request', async () => {
    const streams: Http2Stream[] = [];
    const { port, sessions } = await startServer((stream) => {
      stream.handler = new Collector();
      streams.push(stream);
    });
    const session = nodeClient(port);
    const request = session.request({ ':path': '/' });
    await expect.poll(() => streams.length).toBe(1);
    const goaway = once(session, 'goaway');
    sessions[0]?.close();
    expect((await goaway).slice(0, 2)).toEqual([0, 1]);
    streams[0]?.sendHead([':status', '204'], true);
    const [head] = await once(request, 'response');
    expect(head).toMatchObject({ ':status': 204 });
    await once(session, 'close');
  });
});

describe('a client, with the server of Node', () => {
  async function startNode(settings: object = {}): Promise<number> {
    const server = createNodeServer({ settings });
    server.on('session', (session) => opened.push(session));
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = [];
      stream.on('error', () => {});
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        stream.additionalHeaders({ ':status': 103 });
        stream.respond({ 'x-path': headers[':path'], te: undefined }, { waitForTrailers: true });
        stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.concat(chunks));
      });
    });
    servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return portOf(server);
  }

  it.each([
    ['usual settings', {}],
    ['small windows', { initialWindowSize: 10 }],
    ['no table of headers', { headerTableSize: 0 }],
    ['a small table of headers', { headerTableSize: 100 }],
    ['large frames', { maxFrameSize: 1 << 20 }],
  ])('exchanges bodies and trailers with %s', async (_title, settings) => {
    const session = await ourClient(await startNode(settings));
    for (const size of [0, 1, 5_000, 100_000]) {
      const { stream, received } = openStream(session, `/path-${size}`);
      stream.end(Buffer.alloc(size, 'y'));
      expect((await received.head).fields['x-path']).toBe(`/path-${size}`);
      expect(await received.ended).toEqual({ 'grpc-status': '0' });
      expect(received.body.equals(Buffer.alloc(size, 'y'))).toBe(true);
      expect(await received.whenClosed).toEqual({ code: 0, error: undefined });
    }
  });

  it('sends many requests at a time', async () => {
    const session = await ourClient(await startNode());
    const all = Array.from({ length: 50 }, (_, n) => {
      const { stream, received } = openStream(session);
      stream.end('z'.repeat(n * 2_000));
      return received;
    });
    await Promise.all(all.map(({ ended }) => ended));
    expect(all.map(({ body }) => body.length)).toEqual(Array.from({ length: 50 }, (_, n) => n * 2_000));
  });

  it('answers pings, and is answered', async () => {
    const port = await startNode();
    const session = await ourClient(port);
    await new Promise<void>((resolve) => session.ping(resolve));
    const server = opened.find((each) => 'ping' in each && each !== session) as unknown as {
      ping(callback: (error: Error | null) => void): void;
    };
    expect(await new Promise((resolve) => server.ping(resolve))).toBeNull();
  });
});

describe('a client, with a server of ours', () => {
  it('is answered while it still sends a large body', async () => {
    const { port } = await startServer((stream) => {
      stream.handler = new Collector();
      stream.sendHead([':status', '200', 'grpc-status', '8'], true);
      stream.reset(http2Codes.noError);
    });
    const session = await ourClient(port);
    for (let n = 0; n < 3; n++) {
      const { stream, received } = openStream(session);
      stream.end(Buffer.alloc(4 << 20));
      expect((await received.head).fields['grpc-status']).toBe('8');
      await received.ended;
      await received.whenClosed;
    }
    expect(session.isClosing).toBe(false);
  });

  it('receives a reset if it sends much more', async () => {
    const { port } = await startServer((stream) => {
      stream.sendHead([':status', '200'], true);
      stream.discard();
    });
    const session = await ourClient(port);
    const { stream, received } = openStream(session);
    stream.end(Buffer.alloc(32 << 20));
    expect(await received.whenClosed).toEqual({ code: http2Codes.noError, error: undefined });
    expect(await received.ended).toBeUndefined();
  });

  it('knows which requests a closing server has not processed', async () => {
    const streams: Http2Stream[] = [];
    const { port, sessions } = await startServer((stream) => {
      stream.handler = new Collector();
      streams.push(stream);
    });
    const session = await ourClient(port);
    const first = openStream(session);
    await expect.poll(() => streams.length).toBe(1);
    sessions[0]?.close();
    const second = openStream(session);
    expect(await second.received.whenClosed).toMatchObject({ code: http2Codes.refusedStream });
    streams[0]?.sendHead([':status', '200'], true);
    expect((await first.received.head).status).toBe(200);
    expect(session.canOpen).toBe(false);
  });

  it('receives the reason why a connection ended', async () => {
    const { port, sessions } = await startServer((stream) => (stream.handler = new Collector()));
    const ended: (Error | undefined)[] = [];
    const session = await ourClient(port, { closed: (error) => ended.push(error) });
    const { received } = openStream(session);
    await expect.poll(() => sessions[0]?.streams.size).toBe(1);
    sessions[0]?.fail(http2Codes.enhanceYourCalm, 'too many');
    const { error } = await received.whenClosed;
    expect(error?.message).toMatch('ENHANCE_YOUR_CALM');
    await expect.poll(() => ended.length).toBe(1);
  });
});
