/** gRPC on the port of the server: metadata, status, limits, deadlines, bad frames, TLS and shutdown. */
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { call, errorOf, frame, messagesOf, send, service } from '../../support/grpc/raw-calls.ts';
import { connectionStart, frameTypes, RawHttp2Connection } from '../../support/grpc/raw-http2.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';

const open = closeAfterEach();
let release = createDeferred();
afterEach(() => {
  release.resolve();
  release = createDeferred();
});

async function start(options: ServeOptions = {}) {
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    async *process({ text }) {
      if (text === 'wait') {
        yield { state: 'working', message: 'waiting' };
        await release.promise;
      }
      yield text;
    },
  });
  const server = await serve(agent, options);
  open.push({ close: () => server.stop(0) });
  const session = connectHttp2(server.url);
  session.on('error', () => {});
  open.push({ close: async () => session.destroy() });
  return { server, session };
}

describe('gRPC', () => {
  it('responds with headers, a message and trailers', async () => {
    const { session } = await start();
    const answer = await call(session, 'SendMessage', send('hello'));
    expect(answer.headers).toMatchObject({ ':status': 200, 'content-type': 'application/grpc+proto' });
    expect(answer.trailers).toMatchObject({ 'grpc-status': '0' });
    expect(messagesOf(answer)).toMatchObject([{ task: { artifacts: [{ parts: [{ text: 'hello' }] }] } }]);
  });

  it('accepts HTTP/1.1 on the same port, and a preface in several parts', async () => {
    const { server } = await start();
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const socket = connectTcp(server.port, '127.0.0.1');
    open.push({ close: async () => void socket.destroy() });
    await once(socket, 'connect');
    socket.setNoDelay();
    for (const part of ['PR', 'I * HTTP', '/2.0\r\n\r\nSM\r\n\r\n']) {
      socket.write(part);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Empty settings.
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    expect(bytes[3]).toBe(4);
  });

  it('is recognized on a connection whose first bytes come late', async () => {
    // Connections without a request are checked every 125 ms.
    const { server } = await start({ limits: { headersTimeout: 2_000 } });
    const connection = new RawHttp2Connection(server.port);
    open.push({ close: async () => void connection.socket.destroy() });
    await once(connection.socket, 'connect');
    await new Promise((resolve) => setTimeout(resolve, 300));
    connection.write(connectionStart());
    expect(await connection.next(({ type }) => type === frameTypes.settings)).toBeDefined();
    // A client that sends nothing is not waited for any longer than with HTTP/1.1.
    const silent = new RawHttp2Connection(server.port);
    await silent.closed;
  });

  it('is not served without the option', async () => {
    const { server } = await start({ grpc: false });
    const session = connectHttp2(server.url);
    const [error] = (await once(session, 'error')) as [Error];
    expect(error.message).toMatch(/Protocol error|ECONNRESET|closed/i);
    const card = (await (
      await fetch(`${server.url}/.well-known/agent-card.json`, { headers: { 'a2a-version': '1.0' } })
    ).json()) as { supportedInterfaces: { protocolBinding: string }[] };
    expect(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain('GRPC');
  });

  it.each<[string, string, Uint8Array, string, RegExp]>([
    ['an unknown method', 'Nothing', send('x'), 'METHOD_NOT_FOUND', /no method/],
    ['an unknown service', '/x.Y/Z', send('x'), 'METHOD_NOT_FOUND', /no method/],
    ['no message', 'SendMessage', Buffer.alloc(0), 'INVALID_REQUEST', /missing/],
    ['a wrong length', 'SendMessage', send('x').subarray(0, -1), 'INVALID_REQUEST', /incomplete/],
    [
      'two messages',
      'SendMessage',
      Buffer.concat([send('x'), send('y')]),
      'INVALID_REQUEST',
      /more than one/,
    ],
    [
      'a message with unknown flags',
      'SendMessage',
      frame(Buffer.from('x'), 2),
      'INVALID_REQUEST',
      /unknown flags/,
    ],
    ['bytes that are no message', 'SendMessage', frame(Buffer.from([0xff])), 'INVALID_REQUEST', /Malformed/],
    ['text that is not UTF-8', 'GetTask', frame(Buffer.from([0x12, 1, 0xff])), 'INVALID_REQUEST', /UTF-8/],
    ['a missing field', 'SendMessage', frame(Buffer.alloc(0)), 'INVALID_PARAMS', /message/],
    [
      'an unknown task',
      'GetTask',
      frame(encodeMessage(messages1_0.GetTaskRequest, { id: 't' })),
      'TASK_NOT_FOUND',
      /not found/i,
    ],
  ])('responds with a status to %s', async (_what, method, body, reason, text) => {
    const { session } = await start();
    const error = errorOf(await call(session, method, body));
    expect(error).toMatchObject({ reason });
    expect(error?.message).toMatch(text);
  });

  it('names the invalid fields in the details of the status', async () => {
    const { session } = await start();
    const body = frame(encodeMessage(messages1_0.SendMessageRequest, { message: { role: 'ROLE_USER' } }));
    expect(errorOf(await call(session, 'SendMessage', body))?.violations).toEqual([
      expect.objectContaining({ field: expect.stringMatching(/^message\./) as string }),
    ]);
  });

  it('rejects a version in the metadata that the method does not have', async () => {
    const { session } = await start();
    const older = await call(session, 'SendMessage', send('x'), { 'a2a-version': '0.3' });
    expect(errorOf(older)).toMatchObject({ reason: 'VERSION_NOT_SUPPORTED' });
    const same = await call(session, 'SendMessage', send('x'), { 'a2a-version': '1.0' });
    expect(errorOf(same)).toBeUndefined();
  });

  it('requires the same credentials as HTTP', async () => {
    const { session } = await start({
      auth: { authenticators: [bearerAuth({ tokens: { secret: 'tom' } })] },
    });
    expect(errorOf(await call(session, 'SendMessage', send('x')))).toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
    const authorization = 'Bearer secret';
    expect(errorOf(await call(session, 'SendMessage', send('x'), { authorization }))).toBeUndefined();
  });

  it('limits the size of messages', async () => {
    const { session } = await start({ maxBodyBytes: 1_000 });
    expect(errorOf(await call(session, 'SendMessage', send('x'.repeat(2_000))))).toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
    });
    expect(errorOf(await call(session, 'SendMessage', send('x')))).toBeUndefined();
  });

  it('ends a stream with a status when the deadline of the client passes', async () => {
    const { session } = await start();
    const answer = await call(session, 'SendStreamingMessage', send('wait'), { 'grpc-timeout': '200m' });
    expect(errorOf(answer)).toMatchObject({ reason: 'TIMEOUT' });
    const unary = await call(session, 'SendMessage', send('wait'), { 'grpc-timeout': '100m' });
    expect(errorOf(unary)).toMatchObject({ reason: 'TIMEOUT' });
  });

  it('releases streams that clients reset', async () => {
    const { server, session } = await start({ metrics: true });
    for (let n = 0; n < 50; n++) {
      const stream = session.request({
        ':method': 'POST',
        ':path': `${service}SendStreamingMessage`,
        'content-type': 'application/grpc',
      });
      stream.on('error', () => {});
      stream.end(send('wait'));
      await once(stream, 'data');
      stream.close(constants.NGHTTP2_CANCEL);
      await once(stream, 'close');
    }
    await expect
      .poll(
        async () =>
          /dragoman_streams_open(?:\{[^}]*\})? (\d+)/.exec(
            await (await fetch(`${server.url}/metrics`)).text(),
          )?.[1],
      )
      .toBe('0');
  });

  it('ends streams with UNAVAILABLE when the server stops', async () => {
    const { server, session } = await start();
    const answering = call(session, 'SendStreamingMessage', send('wait'));
    await expect.poll(() => server.server.listening).toBe(true);
    const stream = session.request({
      ':method': 'POST',
      ':path': `${service}SendStreamingMessage`,
      'content-type': 'application/grpc',
    });
    stream.end(send('wait'));
    await once(stream, 'data');
    await server.stop();
    expect(errorOf(await answering)).toMatchObject({ reason: 'UNAVAILABLE' });
  });

  it.runIf(hasOpenssl())('is chosen by ALPN on a TLS connection, beside HTTP/1.1', async () => {
    const { server: keys, ca } = createAuthority('Ours');
    const { server } = await start({ tls: keys });
    const session = connectHttp2(server.url, { ca });
    open.push({ close: async () => session.destroy() });
    expect(errorOf(await call(session, 'SendMessage', send('x')))).toBeUndefined();
  });
});
