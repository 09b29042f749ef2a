import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../http/free-port.ts';
import { findSystemProgram } from '../process/system-program.ts';

/** A real broker in a folder of its own. */
export interface TestBroker {
  readonly url: string;
  readonly port: number;
  /** What it has said so far. */
  readonly output: string;
  /** Ends it as an operator does. */
  stop(): Promise<void>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
  /** Starts it again, on the same port and with what it kept. */
  restart(): Promise<void>;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

/** Where Mosquitto is, or undefined; then tests print why they are skipped. */
export const mosquitto = found('mosquitto', 'mosquitto');
/** Where nats-server is, or undefined. */
export const natsServer = found('nats-server', 'nats-server');

function found(program: string, systemPackage: string): string | undefined {
  const path = findSystemProgram(program, systemPackage);
  if (path === undefined) console.log(`skipped: ${program} is not installed`);
  return path;
}

/** How a Mosquitto is to be, beside a port on loopback. */
export interface MosquittoServerOptions {
  /** Lines for its configuration. @defaultValue anybody may come in; everything else as Mosquitto has it */
  lines?: readonly string[];
  /** Passwords of users. */
  users?: { readonly [name: string]: string };
  /** Files that the lines name, as `{folder}/name`. */
  files?: { readonly [name: string]: string };
  /** Whether it is reached over WebSocket. */
  isWebSocket?: boolean;
}

/** Starts Mosquitto. Except for what is said in the options it is configured as it is when nobody configures it. */
export async function startMosquitto({
  lines = [],
  users,
  files = {},
  isWebSocket = false,
}: MosquittoServerOptions = {}): Promise<TestBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-mosquitto-'));
  const port = await findFreePort();
  const passwords = join(folder, 'passwords');
  if (users) {
    writeFileSync(passwords, '');
    const tool = findSystemProgram('mosquitto_passwd', 'mosquitto') ?? 'mosquitto_passwd';
    for (const [name, password] of Object.entries(users)) spawnSync(tool, ['-b', passwords, name, password]);
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const file = join(folder, 'mosquitto.conf');
  const text = [
    `listener ${port} 127.0.0.1`,
    // It does not start with a listener for WebSocket alone.
    ...(isWebSocket ? ['protocol websockets', `listener ${await findFreePort()} 127.0.0.1`] : []),
    ...(users ? ['allow_anonymous false', `password_file ${passwords}`] : ['allow_anonymous true']),
    ...(process.getuid?.() === 0 ? ['user root'] : []),
    ...lines.map((line) => line.replaceAll('{folder}', folder)),
  ];
  writeFileSync(file, `${text.join('\n')}\n`);
  return start(
    mosquitto ?? 'mosquitto',
    ['-c', file],
    port,
    `${isWebSocket ? 'ws' : 'mqtt'}://127.0.0.1:${port}`,
    folder,
  );
}

/** How a nats-server is to be, beside a port on loopback. */
export interface NatsServerOptions {
  users?: { name: string; password: string };
  /** Whether it has JetStream, which keeps its streams in files. @defaultValue true */
  hasStreams?: boolean;
}

/** Starts nats-server. */
export async function startNats({ users, hasStreams = true }: NatsServerOptions = {}): Promise<TestBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-nats-'));
  const port = await findFreePort();
  const args = ['-a', '127.0.0.1', '-p', String(port)];
  if (hasStreams) args.push('-js', '-sd', folder);
  if (users) args.push('--user', users.name, '--pass', users.password);
  return start(natsServer ?? 'nats-server', args, port, `nats://127.0.0.1:${port}`, folder);
}

async function start(
  program: string,
  args: readonly string[],
  port: number,
  url: string,
  folder: string,
): Promise<TestBroker> {
  let output = '';
  let child: ChildProcess | undefined;
  const run = async (): Promise<void> => {
    child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const add = (text: Buffer): void => {
      output += text.toString();
    };
    child.stdout?.on('data', add);
    child.stderr?.on('data', add);
    const ended = once(child, 'exit').then(() => {
      throw new Error(`${program} ended:\n${output}`);
    });
    await Promise.race([listening(port), ended]);
    ended.catch(() => {});
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  };
  await run();
  return {
    url,
    port,
    get output() {
      return output;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    restart: run,
    remove: async () => {
      await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Waits until somebody listens; there is no event for that, so it is tried. */
async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
