/** gRPC through the tap: what clients and agents notice, and what is recorded. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  createServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ClientFactory } from 'sdk-1.3/client';
import { GrpcTransportFactory } from 'sdk-1.3/client/grpc';
import { describe, expect, it } from 'vitest';
import { bearer, connect } from '../../../src/client/index.ts';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';
import type { RunTapOptions, TrafficLog } from '../../../src/tap/index.ts';
import { GrpcAddressRewriter } from '../../../src/tap/proxy/grpc/rewrite-grpc-address.ts';
import { collect, say } from '../../interop/sdk-1.3-messages.ts';
import { startSampleAgent, startTapTo } from '../../support/tap/start-tap.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream } from '../../support/collect-stream.ts';
import { call, errorOf, frame, messagesOf, send, service } from '../../support/grpc/raw-calls.ts';
import { httpGet } from '../../support/http/http-calls.ts';
import { startRawServer } from '../../support/http/raw-server.ts';
import { recordsIn, summarizeRecords, waitForRecord } from '../../support/tap/traffic-log.ts';

const open = closeAfterEach();

const startAgent = (options?: Parameters<typeof startSampleAgent>[1]) => startSampleAgent(open, options);
const startTap = (to: string, options?: Partial<RunTapOptions>) => startTapTo(open, to, options);

const grpcRecords = (log: TrafficLog) =>
  recordsIn(log).filter(({ decoded }) => decoded?.transport === 'GRPC');

const summaries = (log: TrafficLog, version = '1.0') =>
  summarizeRecords(grpcRecords(log)).map((each) =>
    each.replace(/^(\S+) .* (\S+) GRPC /, (_all, kind, found) => `${kind} ${found === version ? '' : found}`),
  );

const talk = [
  'request send: hello',
  'response task completed: hello',
  'request stream: stream',
  'response stream begins',
  'frame task submitted',
  'frame status working',
  // Protocol buffers have no `false`, so that the first chunk looks like a whole artifact.
  'frame artifact answer: 0',
  'frame artifact answer (chunk): 1',
  'frame artifact answer (chunk): 2',
  'frame artifact answer (chunk): 3',
  'frame artifact answer (last chunk): 4',
  'frame status completed',
  'end The stream ended',
];

describe('tap with clients of gRPC', () => {
  it.each(['1.0', '0.3'] as const)('records our client of %s', async (version) => {
    const warnings: string[] = [];
    const { log, url } = await startTap(await startAgent(), { onWarning: (each) => warnings.push(each) });
    const client = connect(url, {
      transports: ['GRPC'],
      versions: [version],
      auth: bearer('tok_live_4711_abcdef'),
    });
    expect(await client.send('hello')).toMatchObject({ status: { state: 'completed' } });
    await collectStream(client.stream('stream'));
    await expect(client.getTask({ id: 'none' })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await client.close();
    await waitForRecord(log, ({ decoded }) => decoded?.isError === true);
    expect(summaries(log, version)).toEqual([...talk, 'request get task none', 'response task not found']);
    const records = grpcRecords(log);
    expect(records.flatMap(({ decoded }) => decoded?.findings ?? [])).toEqual([]);
    expect(JSON.stringify(records)).not.toContain('tok_live_4711');
    expect(records[0]).toMatchObject({
      to: 'Sample',
      http: { method: 'POST', headers: { authorization: '[redacted]', te: 'trailers' } },
      decoded: { version, operation: 'send', model: { message: { parts: [{ text: 'hello' }] } } },
    });
    expect(records[1]).toMatchObject({
      http: { status: 200, headers: { 'content-type': 'application/grpc+proto', 'grpc-status': '0' } },
      decoded: { state: 'completed' },
    });
    expect(records.at(-1)).toMatchObject({
      http: {
        status: 404,
        headers: {
          'grpc-status': '5',
          'grpc-status-details-bin': expect.stringMatching(/^\(\d+ characters\)$/),
        },
      },
    });
    expect(warnings).toEqual([]);
  });

  it('records the official client', async () => {
    const { log, url } = await startTap(await startAgent());
    const factory = new ClientFactory({
      transports: [new GrpcTransportFactory()],
      preferredTransports: ['GRPC'],
    });
    const client = await factory.createFromUrl(url);
    await client.sendMessage(say('hello'));
    await collect(client.sendMessageStream(say('stream')) as AsyncIterable<any>);
    await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(summaries(log)).toEqual(talk);
  });
});

/** Starts a gRPC server whose responses are written by the test. */
async function startUpstream(
  respond: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): Promise<string> {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    respond(stream, headers);
  });
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    session.on('error', () => {});
    sessions.add(session);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: async () => {
      for (const each of sessions) each.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts an agent whose card lists one gRPC server, a tap in front of it, and a connection to the tap. */
async function startRaw(address: string, options: Partial<RunTapOptions> = {}) {
  const agent = await startRawServer((_request, response) =>
    response.end(
      JSON.stringify({
        name: 'Raw',
        supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
      }),
    ),
  );
  open.push(agent);
  const started = await startTap(agent.url, options);
  const session = connectHttp2(started.url);
  session.on('error', () => {});
  open.push({ close: async () => session.destroy() });
  return { ...started, session };
}

const openCall = (session: ClientHttp2Session, method: string, body: Uint8Array) => {
  const stream = session.request({
    ':method': 'POST',
    ':path': service + method,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => {});
  stream.end(body);
  return stream;
};

const task = { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_COMPLETED' } };
const result = encodeMessage(messages1_0.SendMessageResponse, { task });
const grpcHeaders = { ':status': 200, 'content-type': 'application/grpc' };

/** Sends a response with trailers. */
function respondWith(stream: ServerHttp2Stream, bytes: Uint8Array, trailers: Record<string, string>): void {
  stream.respond(grpcHeaders, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(bytes);
}

describe('gRPC proxy of the tap', () => {
  it('passes metadata, deadline, bytes and trailers unchanged', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const bodies: Buffer[] = [];
    const address = await startUpstream((stream, headers) => {
      seen.push(headers);
      stream.on('data', (bytes: Buffer) => bodies.push(bytes));
      stream.on('end', () =>
        respondWith(stream, frame(gzipSync(result), 1), {
          'grpc-status': '0',
          'x-cost': '7',
          'x-session-token': 'of-the-agent-4711',
        }),
      );
    });
    const { log, session } = await startRaw(address);
    const body = frame(gzipSync(send('hello').subarray(5)), 1);
    const metadata = {
      'grpc-timeout': '20S',
      'grpc-encoding': 'gzip',
      'x-api-key': 'key-of-alice-4711',
      'trace-bin': 'AAEC',
    };
    const answer = await call(session, 'SendMessage', body, metadata);
    expect(seen[0]).toMatchObject({ ...metadata, te: 'trailers', ':authority': address, ':scheme': 'http' });
    expect(Buffer.concat(bodies)).toEqual(body);
    expect(answer.bytes).toEqual(frame(gzipSync(result), 1));
    expect(answer.trailers).toMatchObject({ 'grpc-status': '0', 'x-cost': '7' });
    expect(summaries(log)).toEqual(['request send: hello', 'response task completed']);
    const [request, response] = grpcRecords(log);
    expect(request?.http?.headers).toMatchObject({
      'x-api-key': '[redacted]',
      'trace-bin': '(4 characters)',
    });
    expect(request?.http?.url).toBe(`http://${address}${service}SendMessage`);
    expect(response?.http?.headers).toMatchObject({ 'x-cost': '7', 'x-session-token': '[redacted]' });
    expect(JSON.parse(response?.text ?? '')).toMatchObject({ task });
  });

  it('passes errors without a message, and redacts credentials that they repeat', async () => {
    const address = await startUpstream((stream) =>
      stream.respond(
        { ...grpcHeaders, 'grpc-status': '16', 'grpc-message': 'no key%2Dof-alice-4711' },
        { endStream: true },
      ),
    );
    const { log, session } = await startRaw(address);
    const answer = await call(session, 'SendStreamingMessage', send('hello'), {
      'x-api-key': 'key-of-alice-4711',
    });
    expect(answer.headers).toMatchObject({ 'grpc-status': '16', 'grpc-message': 'no key%2Dof-alice-4711' });
    expect(answer.trailers).toEqual({});
    expect(summaries(log)).toEqual([
      'request stream: hello',
      expect.stringMatching(/^response unauthenticated: no \[redacted\]$/),
    ]);
    expect(JSON.stringify(log.recordsAfter())).not.toContain('of-alice-4711');
  });

  it('records a stream that ends with an error', async () => {
    const event = frame(encodeMessage(messages1_0.StreamResponse, { task }));
    const address = await startUpstream((stream) =>
      respondWith(stream, Buffer.concat([event, event]), { 'grpc-status': '14', 'grpc-message': 'restart' }),
    );
    const { log, session } = await startRaw(address);
    expect(errorOf(await call(session, 'SendStreamingMessage', send('hello')))?.message).toBe('restart');
    expect(summaries(log)).toEqual([
      'request stream: hello',
      'response stream begins',
      'frame task completed',
      'frame task completed',
      'frame unavailable: restart',
      'end The agent ended the stream with an error',
    ]);
  });

  it('passes the reset of a client on', async () => {
    let reset: (code: number) => void;
    const code = new Promise<number>((resolve) => (reset = resolve));
    const address = await startUpstream((stream) => {
      stream.respond(grpcHeaders);
      stream.on('close', () => reset(stream.rstCode));
    });
    const { log, session } = await startRaw(address);
    const stream = openCall(session, 'SendStreamingMessage', send('hello'));
    await once(stream, 'response');
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await code).toBe(constants.NGHTTP2_CANCEL);
    expect(await waitForRecord(log, ({ kind }) => kind === 'end')).toMatchObject({
      text: 'The client disconnected',
      decoded: { isError: true },
    });
  });

  it('passes the reset of an agent on', async () => {
    const address = await startUpstream((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
    const { log, session } = await startRaw(address);
    const stream = openCall(session, 'SendMessage', send('hello'));
    await new Promise((resolve) => stream.once('close', resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_REFUSED_STREAM);
    const { text } = await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(text).toMatch(/^The agent reset the call: .*REFUSED_STREAM/);
  });

  it('tells of an agent that closes the connection during a stream', async () => {
    const event = frame(encodeMessage(messages1_0.StreamResponse, { task }));
    const address = await startUpstream((stream) => {
      stream.respond(grpcHeaders, { waitForTrailers: true });
      stream.write(event, () => stream.session?.destroy());
    });
    const { log, session } = await startRaw(address);
    const answer = await call(session, 'SendStreamingMessage', send('hello'));
    expect(errorOf(answer)).toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'The agent closed the connection',
    });
    expect(summaries(log).at(-1)).toBe('end The agent closed the connection');
  });

  it('slows the agent down if the client does not read', async () => {
    let written = 0;
    let full: () => void;
    const isFull = new Promise<void>((resolve) => (full = resolve));
    const total = 64 << 20;
    const chunk = Buffer.alloc(1 << 20);
    const address = await startUpstream((stream) => {
      stream.respond(grpcHeaders, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const write = (): void => {
        while (written < total) {
          written += chunk.length;
          if (stream.write(chunk)) continue;
          // The tap takes no more.
          const timer = setTimeout(full, 300);
          stream.once('drain', () => {
            clearTimeout(timer);
            write();
          });
          return;
        }
        full();
        stream.end();
      };
      write();
    });
    const { session } = await startRaw(address);
    const stream = openCall(session, 'SendMessage', send('hello'));
    await once(stream, 'response');
    await isFull;
    expect(written).toBeLessThan(total / 2);
    let received = 0;
    stream.on('data', (bytes: Buffer) => (received += bytes.length));
    await once(stream, 'end');
    expect(received).toBe(total);
  });

  it('disconnects a client that does not read', async () => {
    const address = await startUpstream((stream) =>
      respondWith(stream, Buffer.alloc(4 << 20), { 'grpc-status': '0' }),
    );
    const { log, session } = await startRaw(address, { stallTimeout: 80 });
    const stream = openCall(session, 'SendMessage', send('hello'));
    const closed = new Promise((resolve) => stream.once('close', resolve));
    const { text } = await waitForRecord(log, ({ kind }) => kind === 'end');
    expect(text).toBe('The client stopped reading and was disconnected');
    stream.resume();
    await closed;
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  it('describes messages that it cannot decode', async () => {
    const address = await startUpstream((stream) => {
      stream.resume();
      stream.on('end', () => respondWith(stream, frame(Buffer.from('???')), { 'grpc-status': '0' }));
    });
    const { log, session } = await startRaw(address);
    await call(session, '/grpc.health.v1.Health/Check', frame(Buffer.from('ab')));
    await call(session, 'SendMessage', frame(Buffer.alloc(3 << 20)));
    const texts = recordsIn(log).map(({ kind, text }) => `${kind} ${text}`);
    expect(texts).toEqual([
      'request (2 bytes of application/grpc)',
      'response (3 bytes of application/grpc)',
      `request (${(3 << 20) + 5} bytes of application/grpc)`,
      'response (3 bytes of application/grpc)',
    ]);
  });

  it('tells why it cannot reach the agent', async () => {
    const http1 = await startRawServer((_request, response) => response.end('hi'));
    const silent = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    open.push(http1, { close: () => new Promise((resolve) => silent.close(resolve)) });
    const { port } = silent.address() as AddressInfo;
    const reasons: [string, RegExp][] = [
      [http1.url, /^The tap cannot reach http:.*the server does not speak HTTP\/2, which gRPC needs/],
      [`127.0.0.1:${port}`, /^The tap cannot reach http:.*closed/],
      ['127.0.0.1:1', /connection refused \(ECONNREFUSED\)\. Is the agent running\?$/],
    ];
    for (const [address, reason] of reasons) {
      const { log, session } = await startRaw(address);
      const error = errorOf(await call(session, 'SendMessage', send('hello')));
      expect(error).toMatchObject({ reason: 'UNAVAILABLE', message: expect.stringMatching(reason) });
      expect(summaries(log)).toEqual([
        'request send',
        expect.stringContaining('response unavailable: The tap'),
      ]);
    }
  });

  it('refuses calls of other hosts', async () => {
    const address = await startUpstream((stream) => stream.respond(grpcHeaders, { endStream: true }));
    const { session } = await startRaw(address);
    const answer = await call(session, 'SendMessage', send('hello'), { ':authority': 'evil.test' });
    expect(errorOf(answer)).toMatchObject({ reason: 'PERMISSION_DENIED' });
  });

  it('ends calls with a status when it stops', async () => {
    const address = await startUpstream((stream) => stream.respond(grpcHeaders, { waitForTrailers: true }));
    const { log, session, tap } = await startRaw(address);
    const stream = openCall(session, 'SendStreamingMessage', send('hello'));
    stream.resume();
    await once(stream, 'response');
    const [[trailers]] = await Promise.all([once(stream, 'trailers'), tap.stop(0)]);
    expect(trailers).toMatchObject({ 'grpc-status': '14' });
    expect(summaries(log).at(-1)).toBe('end The tap is stopping');
  });
});

describe('gRPC interfaces in cards', () => {
  const forms: [string, (host: string) => string][] = [
    ['127.0.0.1:50051', (host) => host],
    ['grpc.test:443', (host) => host],
    ['https://grpc.test/x', (host) => `http://${host}`],
    ['grpcs://grpc.test', (host) => `grpc://${host}`],
    ['dns:///grpc.test:50051', (host) => `dns:///${host}`],
  ];

  it.each(forms)('are replaced: %s', async (address, expected) => {
    const cards = [
      { supportedInterfaces: [{ url: address, protocolBinding: 'GRPC', protocolVersion: '1.0' }] },
      {
        url: address,
        preferredTransport: 'GRPC',
        additionalInterfaces: [{ url: address, transport: 'grpc' }],
      },
    ];
    for (const card of cards) {
      const agent = await startRawServer((_request, response) =>
        response.end(JSON.stringify({ name: 'A', ...card })),
      );
      open.push(agent);
      const { url } = await startTap(agent.url);
      const { text } = await httpGet(`${url}/.well-known/agent-card.json`);
      expect(text).toBe(
        JSON.stringify({ name: 'A', ...card }).replaceAll(address, expected(new URL(url).host)),
      );
    }
  });

  it('are replaced in extended cards', async () => {
    const card = (url: string) => ({
      name: 'Raw',
      supportedInterfaces: [{ url, protocolBinding: 'GRPC', protocolVersion: '1.0' }],
    });
    const address = await startUpstream((stream, headers) =>
      respondWith(stream, frame(encodeMessage(messages1_0.AgentCard, card(String(headers[':authority'])))), {
        'grpc-status': '0',
      }),
    );
    const { log, session, url } = await startRaw(address);
    const answer = await call(session, 'GetExtendedAgentCard', frame(new Uint8Array()));
    expect(messagesOf(answer, messages1_0.AgentCard)).toEqual([card(new URL(url).host)]);
    expect(answer.trailers).toMatchObject({ 'grpc-status': '0' });
    expect(summaries(log)).toEqual(['request get extended card', 'response card of Raw']);
  });

  it('of a remote agent do not direct the tap to the local host', () => {
    const rewriter = new GrpcAddressRewriter(new URL('https://agent.test'), 'http://localhost:4100');
    expect(rewriter.rewrite('http://127.0.0.1:50051', '1.0')).toEqual({
      written: 'http://127.0.0.1:50051',
      otherOrigin: 'http://127.0.0.1:50051',
    });
    expect(rewriter.rewrite('agent.test:50051', '1.0')).toEqual({ written: 'localhost:4100' });
    expect([...rewriter.addresses]).toEqual([['1.0', 'https://agent.test:50051']]);
  });

  it('stay if the tap proxies another address of the same version', async () => {
    const of = (url: string, protocolVersion: string) => ({ url, protocolBinding: 'GRPC', protocolVersion });
    const supportedInterfaces = [of('a.test:1', '1.0'), of('b.test:1', '0.3'), of('c.test:1', '1.0')];
    const agent = await startRawServer((_request, response) =>
      response.end(JSON.stringify({ name: 'A', supportedInterfaces })),
    );
    open.push(agent);
    const warnings: string[] = [];
    const { url } = await startTap(agent.url, { onWarning: (each) => warnings.push(each) });
    const { host } = new URL(url);
    const { json } = await httpGet(`${url}/.well-known/agent-card.json`);
    expect(json.supportedInterfaces.map((each: { url: string }) => each.url)).toEqual([
      host,
      host,
      'c.test:1',
    ]);
    expect(warnings).toEqual([expect.stringContaining('The card also lists http://c.test:1')]);
  });
});
