import { once } from 'node:events';
import { constants, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { closeAfterEach } from '../../../../test/support/close-after-each.ts';
import type { HttpExchange } from '../http-exchange.ts';
import { RawHttpClient } from '../raw-http-client.ts';
import { prefixMessage } from './grpc-message-reader.ts';

const open = closeAfterEach();
const headers = { ':status': 200, 'content-type': 'application/grpc' };
const message = prefixMessage(Uint8Array.from([1, 2]));

/** Calls a server that behaves as given. */
async function call(behave: (stream: ServerHttp2Stream) => void): Promise<HttpExchange> {
  const server = createServer();
  server.on('session', (session) => {
    session.on('error', () => {});
    open.push({ close: async () => session.destroy() });
  });
  server.on('stream', (stream) => {
    stream.on('error', () => {});
    behave(stream);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  open.push({ close: async () => void server.close() });
  return request((server.address() as AddressInfo).port);
}

async function request(port: number): Promise<HttpExchange> {
  const client = new RawHttpClient({ deadline: 10_000 });
  open.push({ close: async () => client.close() });
  return client.send({
    method: 'POST',
    url: `http://127.0.0.1:${port}/service/Method`,
    body: prefixMessage(new Uint8Array()),
    grpc: {
      requestText: '{}',
      isStreaming: false,
      decode: (bytes) => ({ json: { bytes: [...bytes] }, problems: [] }),
    },
  });
}

const sendTrailers = (stream: ServerHttp2Stream, trailers: Record<string, string>, data = message): void => {
  stream.respond(headers, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers(trailers));
  stream.end(data);
};

describe('RawHttpClient over gRPC', () => {
  it('records messages and trailers', async () => {
    const exchange = await call((stream) => sendTrailers(stream, { 'grpc-status': '0', 'x-more': 'yes' }));
    expect(exchange).toMatchObject({ status: 200, end: 'complete', body: '{"bytes":[1,2]}' });
    expect(exchange.grpc).toMatchObject({
      isTrailersOnly: false,
      trailers: { 'grpc-status': '0', 'x-more': 'yes' },
      messages: [{ flag: 0, length: 2 }],
      incompleteBytes: 0,
      resetCode: 0,
    });
  });

  it('reads a status with a percent-encoded message from a response without messages', async () => {
    const { grpc, body } = await call((stream) =>
      stream.respond(
        { ...headers, 'grpc-status': '5', 'grpc-message': 'No task %C3%BC 100%' },
        { endStream: true },
      ),
    );
    expect(grpc).toMatchObject({ isTrailersOnly: true, messages: [] });
    expect(grpc?.status).toMatchObject({ name: 'NOT_FOUND', message: 'No task ü 100%', problems: [] });
    expect(JSON.parse(body)).toMatchObject({ error: { code: 5, status: 'NOT_FOUND' } });
  });

  it('reads the details of a status', async () => {
    const info = 'CgNXSFkSA2Eub3I'; // reason WHY, domain a.or, without padding
    const detail = Buffer.concat([
      Buffer.from([0x0a, 40]),
      Buffer.from('type.googleapis.com/google.rpc.ErrorInfo'),
      Buffer.from([0x12, 10]),
      Buffer.from(info, 'base64').subarray(0, 10),
    ]);
    const status = Buffer.concat([Buffer.from([0x08, 5, 0x1a, detail.length]), detail]);
    const { grpc } = await call((stream) =>
      sendTrailers(stream, {
        'grpc-status': '5',
        'grpc-status-details-bin': status.toString('base64').replace(/=+$/, ''),
      }),
    );
    expect(grpc?.status).toMatchObject({
      detailsCode: 5,
      details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'WHY', domain: 'a.o' }],
    });
  });

  it('records that the trailers are missing', async () => {
    const { grpc, end } = await call((stream) => {
      stream.respond(headers);
      stream.end(message);
    });
    expect(end).toBe('complete');
    expect(grpc).toMatchObject({ trailers: {}, status: { name: undefined } });
  });

  it('records the code of a reset', async () => {
    const { grpc, end } = await call((stream) => {
      stream.respond(headers);
      stream.write(message);
      setImmediate(() => stream.destroy(new Error('broken')));
    });
    expect(end).toBe('truncated');
    expect(grpc?.resetCode).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  });

  it('records bytes that are not a complete message', async () => {
    const { grpc } = await call((stream) =>
      sendTrailers(stream, { 'grpc-status': '0' }, Buffer.concat([message, message.subarray(0, 6)])),
    );
    expect(grpc).toMatchObject({ messages: [{ length: 2 }], incompleteBytes: 6 });
  });

  it('reports encodings of the status that are invalid', async () => {
    const { grpc } = await call((stream) =>
      stream.respond(
        { ...headers, 'grpc-status': '17', 'grpc-message': '%ff', 'grpc-status-details-bin': '!' },
        { endStream: true },
      ),
    );
    expect(grpc?.status.name).toBeUndefined();
    expect(grpc?.status.problems).toEqual([
      'grpc-message is not percent-encoded UTF-8',
      'grpc-status-details-bin is not base64',
    ]);
  });

  it('reports a connection that is refused', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await request(port)).toMatchObject({
      status: 0,
      end: 'failed',
      transportError: expect.stringContaining('ECONNREFUSED'),
    });
  });
});
