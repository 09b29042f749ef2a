import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DiagnosisStep,
  diagnose,
  type DoctorOptions,
} from '../../../src/conformance/doctor/diagnose.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createAuthority, hasOpenssl } from '../../support/http/certificates.ts';
import { findFreePort } from '../../support/http/free-port.ts';

const open = closeAfterEach();
const agent = defineAgent({ name: 'Echo', description: 'Repeats', process: async ({ text }) => text });
let server: RunningServer;

beforeAll(async () => {
  server = await serve(agent, { grpc: true });
});

afterAll(async () => {
  await server.stop(0);
  await agent.close();
});

/** Listens on a free port. */
async function listen(listener: Server): Promise<string> {
  const sockets = new Set<Socket>();
  listener.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  open.push({
    async close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  });
  return `127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

/** Listens for HTTP/2 and responds to every call in the same way. */
function respondWith(behave: (stream: ServerHttp2Stream) => void): Promise<string> {
  const listener = createHttp2Server();
  listener.on('stream', (stream) => {
    stream.on('error', () => {});
    behave(stream);
  });
  return listen(listener);
}

/** Returns the step of gRPC for the agent, with another address of gRPC. */
async function grpcStep(address: string, options: DoctorOptions = {}): Promise<DiagnosisStep | undefined> {
  const steps = await diagnose(server.url, { grpcAddress: address, timeout: 10_000, ...options });
  return steps.find(({ name }) => name === 'gRPC');
}

describe('diagnose over gRPC', () => {
  it('performs all steps over gRPC if it is selected', async () => {
    const steps = await diagnose(server.url, { transport: 'GRPC', text: 'hello' });
    expect(steps.map(({ name, state }) => `${name} ${state}`)).toEqual([
      'DNS ok',
      'TLS skipped',
      'card ok',
      'version ok',
      'gRPC ok',
      'auth ok',
      'message ok',
      'stream ok',
    ]);
    expect(steps[4]?.finding).toMatch(/^HTTP\/2 over clear text at 127\.0\.0\.1:\d+, 1\.0: NOT_FOUND/);
  });

  it('checks a gRPC interface of the card after the steps of another transport', async () => {
    const steps = await diagnose(server.url, { text: 'hello' });
    expect(steps.slice(-2).map(({ name, state }) => `${name} ${state}`)).toEqual(['stream ok', 'gRPC ok']);
  });

  it('reports a card without a gRPC interface', async () => {
    const plain = await serve(agent, { grpc: false });
    open.push({ close: () => plain.stop(0) });
    const last = (await diagnose(plain.url, { transport: 'GRPC' })).at(-1);
    expect(last).toMatchObject({ name: 'version', finding: 'the card declares no GRPC interface' });
    expect(last?.fix).toContain('--grpc host:port');
  });

  it('reports a server that supports HTTP/1.1 only', async () => {
    const step = await grpcStep(await listen(createHttpServer()));
    expect(step?.finding).toMatch(/port \d+ supports HTTP\/1\.1 only \(HTTP\/1\.1 400 Bad Request\)$/);
    expect(step?.fix).toContain('http2 on');
  });

  it('reports a refused connection, and the port that accepts gRPC', async () => {
    const port = await findFreePort();
    const step = await grpcStep(`127.0.0.1:${port}`);
    expect(step?.finding).toBe(`connection refused at 127.0.0.1:${port}`);
    expect(step?.fix).toContain(`The port of the card accepts HTTP/2: publish ${new URL(server.url).host}`);
  });

  it.each([
    [
      'removes trailers',
      (stream: ServerHttp2Stream) => {
        stream.respond({ ':status': 200, 'content-type': 'application/grpc' });
        stream.end(Buffer.alloc(5));
      },
      'the response has no trailers with grpc-status',
      'A proxy removes trailers',
    ],
    [
      'does not serve the authority',
      (stream: ServerHttp2Stream) => stream.respond({ ':status': 421 }, { endStream: true }),
      /^the server does not serve the authority 127\.0\.0\.1:\d+ \(HTTP 421\)$/,
      'Publish the host name',
    ],
    [
      'cannot reach the agent over HTTP/2',
      (stream: ServerHttp2Stream) =>
        stream.respond(
          { ':status': 502, server: 'nginx/1.26', 'content-type': 'text/html' },
          { endStream: true },
        ),
      'a proxy cannot reach the agent over HTTP/2 (HTTP 502 from nginx/1.26)',
      'grpc_pass',
    ],
    [
      'forwards calls as HTTP/1.1',
      (stream: ServerHttp2Stream) =>
        stream.respond({ ':status': 404, 'content-type': 'application/json' }, { endStream: true }),
      'HTTP 404 with application/json instead of application/grpc',
      'A proxy forwards calls as HTTP/1.1',
    ],
    [
      'resets calls',
      (stream: ServerHttp2Stream) => stream.destroy(new Error('no')),
      /^the call failed: .*NGHTTP2_INTERNAL_ERROR/,
      'accepts the connection but not the call',
    ],
    [
      'does not serve the version',
      (stream: ServerHttp2Stream) =>
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12', 'grpc-message': 'no' },
          { endStream: true },
        ),
      'the server does not know /lf.a2a.v1.A2AService/GetTask',
      'Register A2AService of 1.0',
    ],
    [
      'has no agent',
      (stream: ServerHttp2Stream) =>
        stream.respond(
          {
            ':status': 200,
            'content-type': 'application/grpc',
            'grpc-status': '14',
            'grpc-message': 'no upstream',
          },
          { endStream: true },
        ),
      'UNAVAILABLE: no upstream',
      'A proxy cannot reach the agent',
    ],
  ] as const)('reports a proxy that %s', async (_name, behave, finding, fix) => {
    const step = await grpcStep(await respondWith(behave));
    expect(step?.finding).toMatch(finding);
    expect(step?.fix).toContain(fix);
  });
});

const can = hasOpenssl();
if (!can) console.log('skipped: openssl is not installed');

describe.runIf(can)('diagnose over gRPC with TLS', () => {
  const authority = can ? createAuthority('doctors') : undefined;
  const identity = authority?.server ?? { key: '', cert: '' };
  const listenForHttp2 = (): Promise<string> => listen(createSecureServer(identity));

  it('reports a certificate that is not trusted', async () => {
    const step = await grpcStep(`https://${await listenForHttp2()}`);
    expect(step?.finding).toMatch(/certificate/);
    expect(step?.state).toBe('error');
  });

  it('reports TLS without ALPN h2', async () => {
    const step = await grpcStep(`https://${await listen(createHttpsServer(identity))}`, { insecure: true });
    expect(step?.finding).toMatch(/^TLS without ALPN h2/);
    expect(step?.fix).toContain('alpn h2');
  });

  it('reports a server without TLS, and one with TLS at an address without it', async () => {
    const plain = await respondWith(() => undefined);
    expect((await grpcStep(`https://${plain}`))?.finding).toMatch(/does not use TLS$/);
    expect((await grpcStep(`http://${await listenForHttp2()}`))?.finding).toMatch(
      /uses TLS$|without a response$/,
    );
  });

  it('accepts a server with a trusted certificate', async () => {
    const secure = await serve(agent, { grpc: true, tls: identity });
    open.push({ close: () => secure.stop(0) });
    const steps = await diagnose(secure.url, { transport: 'GRPC', insecure: true, text: 'hello' });
    expect(steps.find(({ name }) => name === 'gRPC')?.finding).toMatch(/^HTTP\/2 over TLS at/);
    expect(steps.at(-1)).toMatchObject({ name: 'stream', state: 'ok' });
  });
});
