import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DiagnosisStep, diagnose } from '../../../src/conformance/doctor/diagnose.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { findSystemProgram } from '../../support/process/system-program.ts';

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

const nginx = findSystemProgram('nginx');
const haproxy = findSystemProgram('haproxy');
if (!nginx) console.log('skipped: nginx is not installed');
if (!haproxy) console.log('skipped: haproxy is not installed');

/** Starts a proxy with a configuration and returns its address when it listens. */
async function startProxy(
  program: string,
  config: (port: number, folder: string) => string,
  args: (file: string) => string[],
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-doctor-'));
  // The workers of nginx run as another user.
  chmodSync(folder, 0o755);
  const port = await findFreePort();
  const file = join(folder, 'proxy.conf');
  writeFileSync(file, config(port, folder));
  const child = spawn(program, args(file));
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = once(child, 'exit');
  open.push({
    async close() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  });
  while (!(await accepts(port)))
    if (child.exitCode !== null) throw new Error(`The proxy exited with ${child.exitCode}: ${log}`);
  return `127.0.0.1:${port}`;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.on('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });
}

const startNginx = (listen: string, location: (agent: string) => string): Promise<string> =>
  startProxy(
    nginx ?? '',
    (port, folder) => {
      const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((each) => `${each}_temp_path ${folder}/${each};`)
        .join(' ');
      return `daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
http { access_log off; ${places}
  server { listen 127.0.0.1:${port}${listen}; location / { ${location(new URL(server.url).host)} } } }`;
    },
    (file) => ['-p', join(file, '..'), '-c', file],
  );

const startHaproxy = (bind: string, backend: string): Promise<string> =>
  startProxy(
    haproxy ?? '',
    (port) => `defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend in
  bind 127.0.0.1:${port}${bind}
  default_backend agents
backend agents
  server agent ${new URL(server.url).host}${backend}
`,
    (file) => ['-db', '-f', file],
  );

async function grpcStep(address: string): Promise<DiagnosisStep | undefined> {
  const steps = await diagnose(server.url, { grpcAddress: address, text: 'hello' });
  return steps.find(({ name }) => name === 'gRPC');
}

describe.runIf(nginx)('diagnose over gRPC behind nginx', () => {
  it('accepts a proxy that forwards gRPC', async () => {
    const address = await startNginx(' http2', (each) => `grpc_pass grpc://${each};`);
    expect(await grpcStep(address)).toMatchObject({ state: 'ok' });
  });

  it('reports a proxy that downgrades calls to HTTP/1.1', async () => {
    const step = await grpcStep(await startNginx(' http2', (each) => `proxy_pass http://${each};`));
    expect(step?.finding).toMatch(/^HTTP 4\d\d with \S+ from nginx\S* instead of application\/grpc$/);
    expect(step?.fix).toContain('grpc_pass');
  });

  it('reports a proxy without HTTP/2', async () => {
    const step = await grpcStep(await startNginx('', (each) => `grpc_pass grpc://${each};`));
    expect(step?.finding).toMatch(/supports HTTP\/1\.1 only|without a response|another protocol/);
    expect(step?.fix).toContain('http2 on');
  });

  it('reports a proxy that cannot reach the agent', async () => {
    const port = await findFreePort();
    const step = await grpcStep(await startNginx(' http2', () => `grpc_pass grpc://127.0.0.1:${port};`));
    expect(step?.finding).toMatch(/^(a proxy cannot reach the agent|UNAVAILABLE)/);
  });
});

describe.runIf(haproxy)('diagnose over gRPC behind HAProxy', () => {
  it('accepts a proxy that forwards HTTP/2', async () => {
    expect(await grpcStep(await startHaproxy(' proto h2', ' proto h2'))).toMatchObject({ state: 'ok' });
  });

  it('reports a proxy that downgrades calls to HTTP/1.1', async () => {
    const step = await grpcStep(await startHaproxy(' proto h2', ''));
    expect(step?.finding).toMatch(/^HTTP 4\d\d with \S+ instead of application\/grpc$/);
    expect(step?.fix).toContain('proto h2');
  });
});
