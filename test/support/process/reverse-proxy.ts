import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { repositoryRoot } from '../cli/run-command.ts';
import { findFreePort } from '../http/free-port.ts';
import { findSystemProgram } from './system-program.ts';

/** A reverse proxy with a file of `deploy/`. */
export interface ReverseProxy {
  readonly url: string;
  /** Address for clients of gRPC. */
  readonly grpcUrl: string;
  stop(): Promise<void>;
}

const readDeployFile = (name: string): string => readFileSync(join(repositoryRoot, 'deploy', name), 'utf8');

/** Replaces text that must occur. */
function replaced(text: string, pattern: RegExp, replacement: string): string {
  const result = text.replace(pattern, replacement);
  if (result === text) throw new Error(`The file has no ${pattern}`);
  return result;
}

/** Starts nginx with `deploy/nginx.conf`, in front of servers on these ports. */
async function startNginx(program: string, ports: readonly number[]): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-nginx-'));
  // The workers of nginx run as another user.
  chmodSync(folder, 0o755);
  const port = await findFreePort();
  const servers = ports.map((each) => `server 127.0.0.1:${each} max_fails=1 fail_timeout=5s;`).join(' ');
  let text = replaced(readDeployFile('nginx.conf'), /server agent:4000 [^;]*;/g, servers);
  text = replaced(text, /listen 8080;/, `listen 127.0.0.1:${port};`);
  const grpcPort = await findFreePort();
  text = replaced(text, /listen 8081 http2;/, `listen 127.0.0.1:${grpcPort} http2;`);
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (each) => `${each}_temp_path ${folder}/${each};`,
  );
  text = replaced(text, /http \{/, `http { access_log off; ${places.join(' ')}`);
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;\npid ${folder}/nginx.pid;\nerror_log ${folder}/error.log;\n${text}`,
  );
  const child = spawn(program, ['-p', folder, '-c', join(folder, 'nginx.conf')]);
  return waitUntilReady(child, port, folder, grpcPort);
}

const haproxy = findSystemProgram('haproxy');

/** False if HAProxy is not installed and cannot be installed. */
export const hasHaproxy = haproxy !== undefined;

/** Starts HAProxy with `deploy/haproxy.cfg`, in front of servers on these three ports. */
export async function startHaproxy(ports: readonly number[], program = haproxy): Promise<ReverseProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-haproxy-'));
  const port = await findFreePort();
  let text = replaced(readDeployFile('haproxy.cfg'), /bind :8080/, `bind 127.0.0.1:${port}`);
  for (const [i, each] of ports.entries())
    text = replaced(text, new RegExp(`127\\.0\\.0\\.1:400${i + 1}`, 'g'), `127.0.0.1:${each}`);
  const socket = join(folder, 'statistics');
  writeFileSync(join(folder, 'haproxy.cfg'), `global\n  stats socket ${socket}\n${text}`);
  const child = spawn(program ?? '', ['-db', '-f', join(folder, 'haproxy.cfg')]);
  const proxy = await waitUntilReady(child, port, folder);
  await waitUntilChecked(socket);
  return proxy;
}

/** Waits for the first health check of every server. Before it, HAProxy takes a server for ready. */
async function waitUntilChecked(socket: string): Promise<void> {
  let statistics: string;
  do {
    const connection = createConnection(socket);
    connection.end('show stat\n');
    statistics = await readText(connection);
  } while (statistics.includes(',INI,'));
}

async function waitUntilReady(
  child: ChildProcess,
  port: number,
  folder: string,
  grpcPort = port,
): Promise<ReverseProxy> {
  const url = `http://127.0.0.1:${port}`;
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const ended = once(child, 'exit');
  while (!(await respondsOk(`${url}/readyz`)))
    if (child.exitCode !== null) throw new Error(`The proxy exited with ${child.exitCode}: ${log}`);
  return {
    url,
    grpcUrl: `grpc://127.0.0.1:${grpcPort}`,
    async stop() {
      child.kill();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const respondsOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

/** The proxies with a file in `deploy/`; a missing program is undefined after a message. */
export const reverseProxies = [
  { name: 'nginx', program: findSystemProgram('nginx'), start: startNginx },
  {
    name: 'haproxy',
    program: haproxy,
    start: (program: string, ports: readonly number[]) => startHaproxy(ports, program),
  },
] as const;
for (const { name, program } of reverseProxies)
  if (!program) console.log(`skipped: ${name} is not installed`);
