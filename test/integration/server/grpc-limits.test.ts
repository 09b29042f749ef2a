/** gRPC has the limits of HTTP: sizes, members, time, compression, callers and versions. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { messages0_3 } from '../../../src/dialects/protobuf/messages-0_3.ts';
import { messages1_0 } from '../../../src/dialects/protobuf/messages-1_0.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import { type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { call, errorOf, frame, messagesOf, send, service } from '../../support/grpc/raw-calls.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';

const open = closeAfterEach();

async function start(options: ServeOptions = {}) {
  const agent = defineAgent({
    name: 'Echo',
    description: 'Repeats',
    extensions: [{ uri: 'urn:known' }],
    process: ({ text }) => text,
  });
  const server = await serve(agent, options);
  open.push({ close: () => server.stop(0) });
  const session = connectHttp2(server.url);
  session.on('error', () => {});
  open.push({ close: async () => session.destroy() });
  return { server, session };
}

const sendWith = (more: object, part: object = { text: 'x' }) =>
  frame(
    encodeMessage(messages1_0.SendMessageRequest, {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [part], ...more },
    }),
  );

const fail = async (session: ClientHttp2Session, body: Uint8Array, metadata = {}) =>
  errorOf(await call(session, 'SendMessage', body, metadata));

describe('gRPC limits', () => {
  it('rejects a large message as soon as its length is known', async () => {
    const { session } = await start({ maxBodyBytes: 1_000 });
    const stream = session.request({
      ':method': 'POST',
      ':path': `${service}SendMessage`,
      'content-type': 'application/grpc',
    });
    stream.on('error', () => {});
    // The client would send the rest later.
    stream.write(Buffer.from([0, 0, 0x10, 0, 0]));
    const [headers] = (await once(stream, 'response')) as [{ readonly [name: string]: unknown }];
    expect(headers['grpc-status']).toBe('8');
    stream.close();
  });

  it('answers clients that are still sending a large message', async () => {
    const { session, server } = await start({ maxBodyBytes: 1_000 });
    const large = frame(Buffer.alloc(5 << 20));
    for (let n = 0; n < 3; n++)
      expect(await fail(session, large)).toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
    const agent = connect(server.url, { transports: ['GRPC'] });
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'x'.repeat(5 << 20) }] };
    await expect(agent.send({ message })).rejects.toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
    await agent.close();
  });

  it('limits objects, lists and members of a message', async () => {
    const { session } = await start({ limits: { jsonMembers: 100 } });
    const list = (count: number) => sendWith({}, { data: Array.from({ length: count }, () => ({})) });
    expect(await fail(session, list(50))).toBeUndefined();
    expect(await fail(session, list(200))).toMatchObject({ details: { limit: 'jsonMembers' } });
    // Numbers in lists are not counted, as in JSON.
    const numbers = sendWith({}, { data: Array.from({ length: 1_000 }, (_, i) => i) });
    expect(await fail(session, numbers)).toBeUndefined();
  });

  it('limits nesting, parts and metadata, and rejects __proto__', async () => {
    const { session } = await start({ limits: { jsonDepth: 20, parts: 3, metadataBytes: 100 } });
    let data: unknown = 1;
    for (let n = 0; n < 30; n++) data = [data];
    expect(await fail(session, sendWith({}, { data }))).toMatchObject({ details: { limit: 'jsonDepth' } });
    expect(
      await fail(session, sendWith({ parts: Array.from({ length: 4 }, () => ({ text: 'x' })) })),
    ).toMatchObject({ details: { limit: 'parts' } });
    expect(await fail(session, sendWith({ metadata: { long: 'x'.repeat(200) } }))).toMatchObject({
      details: { limit: 'metadataBytes' },
    });
    const hidden = JSON.parse('{"__proto__":{"isAdmin":true}}') as object;
    expect((await fail(session, sendWith({ metadata: hidden })))?.message).toMatch('__proto__');
  });

  it('reads compressed messages within the limit, and rejects other encodings', async () => {
    const { session } = await start({ maxBodyBytes: 10_000 });
    const compressed = (body: Buffer) => frame(gzipSync(body.subarray(5)), 1);
    const gzip = { 'grpc-encoding': 'gzip' };
    const answer = await call(session, 'SendMessage', compressed(send('hello')), gzip);
    expect(messagesOf(answer)).toMatchObject([{ task: { artifacts: [{ parts: [{ text: 'hello' }] }] } }]);
    expect(answer.headers['grpc-accept-encoding']).toBe('identity,gzip');
    // 10 MB of zeros are small when compressed.
    expect(await fail(session, frame(gzipSync(Buffer.alloc(10_000_000)), 1), gzip)).toMatchObject({
      reason: 'PAYLOAD_TOO_LARGE',
    });
    expect(await fail(session, frame(Buffer.from('no gzip'), 1), gzip)).toMatchObject({
      reason: 'INVALID_REQUEST',
    });
    for (const metadata of [{}, { 'grpc-encoding': 'snappy' }] as { [name: string]: string }[]) {
      const { headers } = await call(session, 'SendMessage', compressed(send('x')), metadata);
      expect(headers).toMatchObject({ 'grpc-status': '12', 'grpc-accept-encoding': 'identity,gzip' });
    }
  });

  it('ends a call whose message does not arrive', async () => {
    const { session } = await start({ limits: { requestTimeout: 100 } });
    const stream = session.request({
      ':method': 'POST',
      ':path': `${service}SendMessage`,
      'content-type': 'application/grpc',
    });
    stream.on('error', () => {});
    stream.write(send('x').subarray(0, 8));
    const [headers] = (await once(stream, 'response')) as [{ readonly [name: string]: unknown }];
    expect(headers['grpc-status']).toBe('4');
  });

  it('counts calls of a client with its requests', async () => {
    const { session, server } = await start({ limits: { rate: { perSecond: 0.001, burst: 2 } } });
    expect(await fail(session, send('a'))).toBeUndefined();
    await fetch(`${server.url}/tasks`, { headers: { 'a2a-version': '1.0' } });
    const { headers } = await call(session, 'SendMessage', send('b'));
    expect(headers['grpc-status']).toBe('8');
  });

  it.each([
    ['POST', 'application/json', 415],
    ['POST', 'application/grpc-web+proto', 415],
    ['POST', 'application/grpc+json', 415],
    ['GET', 'application/grpc', 405],
  ])('responds to %s with %s with the HTTP status %i', async (method, type, status) => {
    const { session } = await start();
    const stream = session.request({ ':method': method, ':path': '/', 'content-type': type });
    const [headers] = (await once(stream, 'response')) as [{ readonly [name: string]: unknown }];
    expect(headers[':status']).toBe(status);
    stream.close();
  });

  it('authenticates calls below a base path, and has no methods outside', async () => {
    const { session, server } = await start({
      basePath: '/echo',
      auth: { authenticators: [bearerAuth({ tokens: { secret: 'tom' } })] },
    });
    const path = `/echo${service}SendMessage`;
    const authorization = 'Bearer secret';
    expect(errorOf(await call(session, path, send('x'), { authorization }))).toBeUndefined();
    expect(errorOf(await call(session, path, send('x')))).toMatchObject({ reason: 'UNAUTHENTICATED' });
    for (const metadata of [{ authorization }, {}] as { [name: string]: string }[])
      expect(errorOf(await call(session, 'SendMessage', send('x'), metadata))).toMatchObject({
        reason: 'METHOD_NOT_FOUND',
      });
    // Other clients cannot add a path.
    const card = await (await fetch(`${server.url}/echo/.well-known/agent-card.json`)).text();
    expect(card).not.toContain('GRPC');
  });

  it('serves the methods of the only version', async () => {
    const { session } = await start({ onlyVersion: '0.3' });
    expect(await fail(session, send('x'))).toMatchObject({ reason: 'METHOD_NOT_FOUND' });
    const body = frame(
      encodeMessage(messages0_3.SendMessageRequest, {
        message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'hi' }] },
      }),
    );
    const answer = await call(session, '/a2a.v1.A2AService/SendMessage', body);
    expect(errorOf(answer)).toBeUndefined();
    expect(messagesOf(answer, messages0_3.SendMessageResponse)).toHaveLength(1);
  });

  it('counts and logs calls like requests, also rejected ones', async () => {
    const entries: { fields?: { [name: string]: unknown } }[] = [];
    const { session, server } = await start({
      metrics: true,
      log: (entry) => entries.push(entry),
      auth: { authenticators: [bearerAuth({ tokens: { secret: 'tom' } })] },
    });
    await call(session, 'SendMessage', send('x'), { authorization: 'Bearer secret' });
    await call(session, 'SendMessage', send('x'));
    await call(session, 'SendMessage', frame(Buffer.from([0xff])), { authorization: 'Bearer secret' });
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(/operation="send",version="1\.0",transport="GRPC",outcome="OK"\} 1/);
    expect(text).toMatch(/transport="GRPC",outcome="UNAUTHENTICATED"\} 1/);
    expect(text).toMatch(/transport="GRPC",outcome="INVALID_REQUEST"\} 1/);
    expect(
      entries.filter(({ fields }) => fields?.transport === 'GRPC').map(({ fields }) => fields),
    ).toMatchObject([
      { operation: 'send', outcome: 'OK', status: 200, client: 'tom' },
      { outcome: 'UNAUTHENTICATED', status: 401 },
      { outcome: 'INVALID_REQUEST', status: 400, client: 'tom' },
    ]);
  });

  it('isolates the tasks of principals and tenants', async () => {
    const { session } = await start({
      auth: { authenticators: [bearerAuth({ tokens: { first: 'tom', second: 'ann' } })] },
    });
    const tom = { authorization: 'Bearer first' };
    const body = (tenant: string) =>
      frame(
        encodeMessage(messages1_0.SendMessageRequest, {
          tenant,
          message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'x' }] },
        }),
      );
    const { id } = messagesOf(await call(session, 'SendMessage', body('red'), tom))[0].task;
    const get = async (tenant: string, metadata: { [name: string]: string }) =>
      errorOf(
        await call(
          session,
          'GetTask',
          frame(encodeMessage(messages1_0.GetTaskRequest, { tenant, id })),
          metadata,
        ),
      )?.reason;
    expect(await get('red', tom)).toBeUndefined();
    expect(await get('blue', tom)).toBe('TASK_NOT_FOUND');
    expect(await get('red', { authorization: 'Bearer second' })).toBe('TASK_NOT_FOUND');
  });

  it('names the activated extensions in the metadata of the response', async () => {
    const { session } = await start();
    const metadata = { 'a2a-extensions': 'urn:known, urn:other' };
    const { headers } = await call(session, 'SendStreamingMessage', send('x'), metadata);
    expect(headers).toMatchObject({
      'a2a-extensions': 'urn:known',
      'content-type': 'application/grpc+proto',
    });
  });

  it.runIf(hasOpenssl())('leaves HTTP/1.1 to clients that support both', async () => {
    const { server: keys, ca } = createAuthority('Ours');
    const server = await serve(defineAgent({ name: 'Echo', description: 'Repeats', process: () => 'x' }), {
      tls: keys,
    });
    open.push({ close: () => server.stop(0) });
    const chosen = async (ALPNProtocols: string[]): Promise<string | false | null> => {
      const socket = connectTls({ port: server.port, host: '127.0.0.1', ca, ALPNProtocols });
      await once(socket, 'secureConnect');
      socket.destroy();
      return socket.alpnProtocol;
    };
    expect(await chosen(['h2', 'http/1.1'])).toBe('http/1.1');
    expect(await chosen(['h2'])).toBe('h2');
  });
});
