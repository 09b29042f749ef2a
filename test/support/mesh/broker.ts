import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../http/free-port.ts';
import { findSystemProgram } from '../process/system-program.ts';

/** A real broker process with its own data folder. */
export interface TestBroker {
  readonly url: string;
  readonly port: number;
  /** The output of the process so far. */
  readonly output: string;
  /** Stops the broker with SIGTERM. */
  stop(): Promise<void>;
  /** Kills the broker with SIGKILL. */
  kill(): Promise<void>;
  /** Starts the broker again with the same port and data. */
  restart(): Promise<void>;
  /** Kills the broker and removes its folder. */
  remove(): Promise<void>;
}

/** Path of Mosquitto, or undefined if it is not installed and its tests are skipped. */
export const mosquitto = findBroker('mosquitto', 'mosquitto');
/** Path of nats-server, or undefined if it is not installed. */
export const natsServer = findBroker('nats-server', 'nats-server');

function findBroker(program: string, systemPackage: string): string | undefined {
  const path = findSystemProgram(program, systemPackage);
  if (path === undefined) console.log(`skipped: ${program} is not installed`);
  return path;
}

/** Configuration of a Mosquitto. It always listens on a loopback port. */
export interface MosquittoServerOptions {
  /** Additional lines of the configuration file. */
  lines?: readonly string[];
  /** Passwords by user name. Without users, anonymous access is allowed. */
  users?: { readonly [name: string]: string };
  /** Files to which `lines` refer as `{folder}/name`. */
  files?: { readonly [name: string]: string };
  /** Listens for MQTT over WebSocket instead of TCP. */
  isWebSocket?: boolean;
}

/** Starts Mosquitto with its default configuration and the given options. */
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
    // Mosquitto does not start with a WebSocket listener only.
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

/** Configuration of a nats-server. It always listens on a loopback port. */
export interface NatsServerOptions {
  /** Path of the program. @defaultValue {@link natsServer} */
  program?: string;
  users?: { name: string; password: string };
  /** Enables JetStream with file storage. @defaultValue true */
  hasStreams?: boolean;
}

export async function startNats({
  program = natsServer ?? 'nats-server',
  users,
  hasStreams = true,
}: NatsServerOptions = {}): Promise<TestBroker> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-nats-'));
  const port = await findFreePort();
  const args = ['-a', '127.0.0.1', '-p', String(port)];
  if (hasStreams) args.push('-js', '-sd', folder);
  if (users) args.push('--user', users.name, '--pass', users.password);
  return start(program, args, port, `nats://127.0.0.1:${port}`, folder);
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
      throw new Error(`${program} exited:\n${output}`);
    });
    await Promise.race([waitForListener(port), ended]);
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

/** Polls a port until a process listens on it. */
async function waitForListener(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isListening = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isListening) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
