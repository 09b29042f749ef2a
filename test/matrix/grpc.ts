/** Clients and agents over gRPC, with the codecs of the conformance suite, which are independent of the product. */
import { once } from 'node:events';
import { connect, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  service0_3,
  service1_0,
  type ServiceSchema,
} from '../../src/conformance/drivers/grpc/service-schemas.ts';
import { decodeProtobuf } from '../../src/conformance/wire/grpc/decode-message.ts';
import { encodeProtobuf } from '../../src/conformance/wire/grpc/encode-message.ts';
import { GrpcMessageReader, prefixMessage } from '../../src/conformance/wire/grpc/grpc-message-reader.ts';
import { respondJson, startRawServer } from '../support/http/raw-server.ts';
import { buildParams, type MatrixClient, newId, readOutcome, readTaskId } from './clients.ts';
import { type Upstream, UpstreamAgent, type UpstreamReply, upstreamCard } from './upstream.ts';
import { readContent, type WireVersion } from './versions.ts';

/** Versions with gRPC. */
export const grpcVersions = ['0.3', '1.0'] as const;
export type GrpcVersion = (typeof grpcVersions)[number];

const services: { readonly [V in GrpcVersion]: ServiceSchema } = { '0.3': service0_3, '1.0': service1_0 };
const wireVersions: { readonly [V in GrpcVersion]: WireVersion } = { '0.3': '0.3 REST', '1.0': '1.0' };
const operations = ['send', 'stream', 'cancel', 'get'] as const;
type GrpcOperation = (typeof operations)[number];

/**
 * Creates a client over gRPC. It names the agent as the card of the gateway does: in the field `tenant`, or in 0.3, which
 * has none, by the host.
 */
export function grpcMatrixClient(
  gateway: string,
  version: GrpcVersion,
): { client: MatrixClient; close(): void } {
  const session = connect(gateway);
  session.on('error', () => {});
  const { path, schema, methods } = services[version];
  const wireVersion = wireVersions[version];
  const { port } = new URL(gateway);

  async function call(
    agent: string,
    operation: GrpcOperation,
    params: object,
    onMessage: (message: any) => void,
  ): Promise<void> {
    const method = methods[operation];
    if (!method) throw new Error(`no method ${operation}`);
    const stream = session.request({
      ':method': 'POST',
      ':path': path + method.name,
      ...(version === '0.3' && { ':authority': `${agent}.localhost:${port}` }),
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    let status: IncomingHttpHeaders = {};
    stream.on('response', (headers) => (status = { ...headers }));
    stream.on('trailers', (trailers) => (status = { ...status, ...trailers }));
    const reader = new GrpcMessageReader();
    stream.on('data', (chunk: Buffer) => {
      for (const { bytes } of reader.push(chunk)) {
        const { json, problems } = decodeProtobuf(schema, method.response, bytes);
        if (problems.length > 0) throw new Error(JSON.stringify(problems));
        onMessage(json);
      }
    });
    const json = version === '1.0' ? { ...params, tenant: agent } : params;
    stream.end(prefixMessage(encodeProtobuf(schema, method.request, json)));
    await once(stream, 'close');
    if (status['grpc-status'] !== '0')
      onMessage({ error: { message: decodeURIComponent(String(status['grpc-message'])) } });
  }

  const client: MatrixClient = {
    version: wireVersion,
    request(agent, operation, content, ids = { contextId: newId() }) {
      let markStarted = (_taskId: string): void => {};
      const started = new Promise<string>((resolve) => {
        markStarted = resolve;
      });
      const bodies: any[] = [];
      const outcome = call(agent, operation, buildParams(wireVersion, content, ids, newId()), (message) => {
        bodies.push(message);
        if (readContent(wireVersion, message).states.includes('working'))
          markStarted(readTaskId(message) ?? '');
      }).then(() => readOutcome(wireVersion, bodies));
      return { started, outcome };
    },
    async cancel(agent, taskId) {
      const params = version === '1.0' ? { id: taskId } : { name: `tasks/${taskId}` };
      await call(agent, 'cancel', params, (message) => {
        if (message.error) throw new Error(`cancel: ${JSON.stringify(message)}`);
      });
    },
  };
  return { client, close: () => session.destroy() };
}

const statusCodes = { [-32001]: 5, [-32002]: 9, [-32603]: 13 } as const;

/** Starts an agent that speaks gRPC only. Its card is served over HTTP. */
export async function startGrpcUpstream(version: GrpcVersion): Promise<Upstream> {
  const agent = new UpstreamAgent(wireVersions[version]);
  const { path, methods, schema } = services[version];
  const grpc = createServer();
  const sessions = new Set<{ destroy(): void }>();
  grpc.on('session', (session) => sessions.add(session));
  grpc.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    const operation = operations.find((each) => path + methods[each]?.name === headers[':path']);
    const method = operation && methods[operation];
    const reader = new GrpcMessageReader();
    stream.on('data', (chunk: Buffer) => {
      for (const { bytes } of reader.push(chunk)) {
        if (!operation || !method) return endCall(stream, 12, 'Method not found');
        const { json } = decodeProtobuf(schema, method.request, bytes);
        const { name, ...params } = json as { name?: string };
        const id = name?.replace(/^tasks\//, '');
        const encode = (result: object) => prefixMessage(encodeProtobuf(schema, method.response, result));
        agent.handle(operation, { ...(id !== undefined && { id }), ...params }, grpcReply(stream, encode));
      }
    });
  });
  await new Promise<void>((resolve) => grpc.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(grpc.address() as AddressInfo).port}`;
  const cards = await startRawServer((_request, response) =>
    respondJson(response, upstreamCard(version, { url: address, transport: 'GRPC' })),
  );
  return {
    url: cards.url,
    close: async () => {
      for (const session of sessions) session.destroy();
      grpc.close();
      await cards.close();
    },
  };
}

function grpcReply(stream: ServerHttp2Stream, encode: (result: object) => Uint8Array): UpstreamReply {
  const open = (): void => {
    if (stream.headersSent) return;
    stream.respond({ 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  };
  return {
    result(result) {
      open();
      stream.end(encode(result));
    },
    error: (code, message) => endCall(stream, statusCodes[code], message),
    stream() {
      open();
      return { event: (event) => stream.write(encode(event)), end: () => stream.end() };
    },
  };
}

function endCall(stream: ServerHttp2Stream, code: number, message: string): void {
  stream.respond(
    { 'content-type': 'application/grpc', 'grpc-status': String(code), 'grpc-message': message },
    { endStream: true },
  );
}
