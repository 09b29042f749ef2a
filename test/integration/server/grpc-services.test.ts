/** Services of the server itself: health and reflection, and the life of its connections. */
import {
  create,
  createFileRegistry,
  fromBinary,
  fromJson,
  type JsonObject,
  toBinary,
  toJson,
} from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials } from '@grpc/grpc-js';
import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { healthMessages } from '../../../src/server/grpc/services/health-messages.ts';
import { reflectionMessages } from '../../../src/server/grpc/services/reflection-messages.ts';
import { type ServeOptions, serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { call, errorOf, frame, messagesOf, send, service } from '../../support/grpc/raw-calls.ts';

const open = closeAfterEach();
const fromBase64 = (text: string): Uint8Array => Buffer.from(text, 'base64');
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
      if (text === 'wait') await release.promise;
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

const request = (name = '') => frame(encodeMessage(healthMessages.HealthCheckRequest, { service: name }));
const check = (session: ClientHttp2Session, name?: string) =>
  call(session, '/grpc.health.v1.Health/Check', request(name));

/** Opens a call whose messages are read one by one. */
function openCall(session: ClientHttp2Session, path: string) {
  const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  stream.on('error', () => {});
  return stream;
}

describe('health', () => {
  it.each(['', 'lf.a2a.v1.A2AService', 'a2a.v1.A2AService'])(
    'is SERVING for the service "%s"',
    async (name) => {
      const { session } = await start();
      expect(messagesOf(await check(session, name), healthMessages.HealthCheckResponse)).toEqual([
        { status: 'SERVING' },
      ]);
    },
  );

  it('is unknown for other services', async () => {
    const { session } = await start();
    const answer = await check(session, 'x.Y');
    expect(answer.headers['grpc-status']).toBe('5');
  });

  it('is watched: NOT_SERVING while the server drains, then UNAVAILABLE', async () => {
    const { server, session } = await start({ drain: { notReady: 1_500 } });
    const stream = openCall(session, '/grpc.health.v1.Health/Watch');
    const trailers = once(stream, 'trailers');
    stream.end(request());
    const [first] = (await once(stream, 'data')) as [Buffer];
    expect(messagesOf({ bytes: first }, healthMessages.HealthCheckResponse)).toEqual([{ status: 'SERVING' }]);
    const stopping = server.stop();
    const [second] = (await once(stream, 'data')) as [Buffer];
    expect(messagesOf({ bytes: second }, healthMessages.HealthCheckResponse)).toEqual([
      { status: 'NOT_SERVING' },
    ]);
    // Calls are still accepted.
    expect(errorOf(await call(session, 'SendMessage', send('x')))).toBeUndefined();
    expect(((await trailers)[0] as { [name: string]: unknown })['grpc-status']).toBe('14');
    await stopping;
  });

  it('rejects messages that are no questions', async () => {
    const { session } = await start();
    const answer = await call(session, '/grpc.health.v1.Health/Check', frame(Buffer.alloc(5_000)));
    expect(answer.headers['grpc-status']).toBe('8');
  });
});

describe('reflection', () => {
  const path = (version: string) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
  const ask = async (session: ClientHttp2Session, questions: readonly object[], version = 'v1') => {
    const body = questions.map((each) =>
      frame(encodeMessage(reflectionMessages.ServerReflectionRequest, each)),
    );
    const answer = await call(session, path(version), Buffer.concat(body));
    expect(errorOf(answer)).toBeUndefined();
    return messagesOf(answer, reflectionMessages.ServerReflectionResponse);
  };

  it.each(['v1', 'v1alpha'])('lists the services in %s', async (version) => {
    const { session } = await start();
    const [answer] = await ask(session, [{ listServices: '' }], version);
    expect(answer.listServicesResponse.service.map(({ name }: { name: string }) => name)).toEqual([
      'lf.a2a.v1.A2AService',
      'a2a.v1.A2AService',
      'grpc.health.v1.Health',
      'grpc.reflection.v1.ServerReflection',
      'grpc.reflection.v1alpha.ServerReflection',
    ]);
  });

  it('answers several questions, and names what it does not know', async () => {
    const { session } = await start();
    const answers = await ask(session, [
      { fileByFilename: 'google/protobuf/struct.proto' },
      { fileContainingSymbol: 'lf.a2a.v1.A2AService.SendMessage' },
      { fileContainingSymbol: 'x.Y' },
      { fileContainingExtension: { containingType: 'x', extensionNumber: 1 } },
    ]);
    expect(answers[0].fileDescriptorResponse.fileDescriptorProto).toHaveLength(1);
    expect(answers[1].fileDescriptorResponse.fileDescriptorProto).toHaveLength(4);
    expect(answers[2].errorResponse.errorCode).toBe(5);
    expect(answers[3].errorResponse.errorCode).toBe(12);
  });

  it.each(['lf.a2a.v1.A2AService', 'a2a.v1.A2AService'])('is enough to call %s', async (name) => {
    const { server, session } = await start();
    const [answer] = await ask(session, [{ fileContainingSymbol: name }]);
    const encoded = answer.fileDescriptorResponse.fileDescriptorProto as string[];
    // Imported files first.
    const file = encoded.toReversed().map((each) => fromBinary(FileDescriptorProtoSchema, fromBase64(each)));
    const registry = createFileRegistry(create(FileDescriptorSetSchema, { file }));
    const method = registry.getService(name)?.methods.find((each) => each.name === 'SendMessage');
    if (!method) throw new Error(`${name} has no method SendMessage`);
    const content = name.startsWith('lf.') ? 'parts' : 'content';
    const message = { messageId: 'm', role: 'ROLE_USER', [content]: [{ text: 'hello' }] };
    const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
    const response = await new Promise((resolve, reject) =>
      client.makeUnaryRequest(
        `/${name}/SendMessage`,
        (json: JsonObject) => Buffer.from(toBinary(method.input, fromJson(method.input, json))),
        (bytes) => toJson(method.output, fromBinary(method.output, bytes)),
        { message },
        (error, value) => (error ? reject(error) : resolve(value)),
      ),
    );
    client.close();
    expect(response).toMatchObject({ task: { artifacts: [{ parts: [{ text: 'hello' }] }] } });
  });

  it('can be turned off', async () => {
    const { session } = await start({ grpc: { reflection: false } });
    expect(errorOf(await call(session, path('v1'), Buffer.alloc(0)))).toMatchObject({
      reason: 'METHOD_NOT_FOUND',
    });
  });
});

describe('connections', () => {
  /** A client that sends the preface and then reads nothing but frame types. */
  async function rawConnection(port: number): Promise<{ socket: Socket; closed: Promise<unknown> }> {
    const socket = connectTcp(port, '127.0.0.1');
    open.push({ close: async () => void socket.destroy() });
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.resume();
    return { socket, closed };
  }

  it('are closed if the client does not answer pings', async () => {
    const { server } = await start({ grpc: { keepAliveInterval: 50, keepAliveTimeout: 50, idleTimeout: 0 } });
    const { closed } = await rawConnection(server.port);
    await closed;
  });

  it('are kept if the client answers pings', async () => {
    const { session } = await start({
      grpc: { keepAliveInterval: 40, keepAliveTimeout: 10_000, idleTimeout: 0 },
    });
    await once(session, 'ping');
    await once(session, 'ping');
    expect(errorOf(await call(session, 'SendMessage', send('x')))).toBeUndefined();
  });

  it('are closed without calls, but not with an open one', async () => {
    const { session } = await start({ grpc: { idleTimeout: 1_000 } });
    const stream = openCall(session, `${service}SendStreamingMessage`);
    stream.end(send('wait'));
    await once(stream, 'data');
    const goaway = once(session, 'goaway');
    release.resolve();
    stream.resume();
    await once(stream, 'end');
    expect((await goaway)[0]).toBe(constants.NGHTTP2_NO_ERROR);
  });

  it('limit the calls of a client', async () => {
    const { session } = await start({ grpc: { callsPerConnection: 2 } });
    if (session.remoteSettings.maxConcurrentStreams === undefined) await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(2);
  });

  it('finish their calls when the server stops, and refuse new ones', async () => {
    const { server, session } = await start();
    const answering = call(session, 'SendMessage', send('wait'));
    const stream = openCall(session, `${service}SendStreamingMessage`);
    stream.end(send('x'));
    stream.resume();
    await once(stream, 'close');
    const goaway = once(session, 'goaway');
    const stopping = server.stop();
    await goaway;
    release.resolve();
    expect(errorOf(await answering)).toBeUndefined();
    await stopping;
  });

  it('end calls with UNAVAILABLE that do not finish in time', async () => {
    const { server, session } = await start();
    const answering = call(session, 'SendMessage', send('wait'));
    const stream = openCall(session, `${service}SendStreamingMessage`);
    stream.end(send('x'));
    stream.resume();
    await once(stream, 'close');
    const stopping = server.stop(50);
    expect(errorOf(await answering)).toMatchObject({ reason: 'UNAVAILABLE' });
    await stopping;
  });
});
