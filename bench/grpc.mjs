// gRPC: our server, the official SDK's and a bare grpc-js echo, one after the other in each round.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeMessage } from '../dist/dialects/protobuf/decode-message.js';
import { encodeMessage } from '../dist/dialects/protobuf/encode-message.js';
import { messages1_0 } from '../dist/dialects/protobuf/messages-1_0.js';

const here = path.dirname(fileURLToPath(import.meta.url));
const targets = {
  official: ['targets/official.mjs', { GRPC: '1' }],
  bare: ['targets/floor-grpc.mjs', {}],
  dragoman: ['targets/dragoman.mjs', {}],
};
const subscriberCount = 200;
const eventCount = 300;
const idleCount = 1_000;
let port = 27_000 + Math.floor(Math.random() * 500);
let number = 0;

/** Measures all targets for the given number of rounds. */
export async function grpc({ rounds, seconds, warmup }) {
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    for (const target of Object.keys(targets)) {
      const server = await startTarget(target);
      try {
        const row = { round, target };
        row.send = await load(server, 'SendMessage', 'hello', 64, seconds, warmup);
        row.stream100 = await load(server, 'SendStreamingMessage', 'stream:100', 16, seconds, warmup);
        row.fanout = await fanOut(server);
        rows.push(row);
      } finally {
        server.child.kill('SIGKILL');
      }
      const fresh = await startTarget(target);
      try {
        rows.at(-1).idleBytes = await idle(fresh);
        console.error(`   ${JSON.stringify(rows.at(-1))}`);
      } finally {
        fresh.child.kill('SIGKILL');
      }
    }
  }
  return { rows };
}

/** Starts a server on the first core. */
export async function startTarget(target) {
  const [file, env] = targets[target];
  const own = port++;
  const child = spawn('taskset', ['-c', '0', 'node', file], {
    cwd: here,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', PORT: String(own), ...env },
  });
  const url = `http://127.0.0.1:${own}`;
  for (let tries = 0; tries < 200; tries++) {
    const session = await open(url).catch(() => undefined);
    if (session) {
      session.destroy();
      return { url, child, pid: child.pid };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${target} did not start`);
}

/** Opens a connection. */
export function open(url) {
  return new Promise((resolve, reject) => {
    const session = connect(url, { settings: { initialWindowSize: 1 << 20 } });
    session.once('remoteSettings', () => {
      // The window of the whole connection.
      session.setLocalWindowSize(1 << 24);
      resolve(session);
    });
    session.on('error', reject);
  });
}

/** Sends calls with a number of them at a time on four connections. */
async function load({ url, pid }, method, text, atOnce, seconds, warmup) {
  const sessions = await Promise.all(Array.from({ length: 4 }, () => open(url)));
  let isOver = false;
  let done = 0;
  const worker = async (session) => {
    while (!isOver) {
      await call(session, method, request(text));
      done++;
    }
  };
  const workers = Array.from({ length: atOnce }, (_, i) => worker(sessions[i % sessions.length]));
  await new Promise((resolve) => setTimeout(resolve, warmup * 1_000));
  const before = { done, cpu: cpuTime(pid), at: performance.now() };
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const calls = done - before.done;
  const cpu = cpuTime(pid) - before.cpu;
  const perSecond = (calls / (performance.now() - before.at)) * 1_000;
  isOver = true;
  await Promise.all(workers);
  for (const session of sessions) session.destroy();
  return { perSecond: Math.round(perSecond), cpuMicros: Math.round((cpu * 1e6) / calls) };
}

/** One task with many subscribers: processor time of the server for each delivered event. */
async function fanOut({ url, pid }) {
  const session = await open(url);
  const others = await Promise.all(Array.from({ length: 4 }, () => open(url)));
  const first = openCall(session, 'SendStreamingMessage', request(`fan:${eventCount}:3000`));
  const task = await new Promise((resolve) => first.once('data', (bytes) => resolve(taskId(bytes))));
  const body = frame(encodeMessage(messages1_0.SubscribeToTaskRequest, { id: task }));
  const subscribers = Array.from({ length: subscriberCount }, (_, i) =>
    openCall(others[i % others.length], 'SubscribeToTask', body),
  );
  await Promise.all(subscribers.map((each) => new Promise((resolve) => each.once('data', resolve))));
  const cpu = cpuTime(pid);
  first.resume();
  await Promise.all(subscribers.map((each) => ended(each)));
  const micros = ((cpuTime(pid) - cpu) * 1e6) / (subscriberCount * eventCount);
  for (const each of [session, ...others]) each.destroy();
  return { cpuMicros: Math.round(micros * 100) / 100 };
}

/** Memory of each open stream that sends nothing. */
async function idle({ url, pid }) {
  const sessions = await Promise.all(Array.from({ length: 10 }, () => open(url)));
  const before = memory(pid);
  for (let n = 0; n < idleCount; n++) {
    const stream = openCall(sessions[n % sessions.length], 'SendStreamingMessage', request('hang'));
    await new Promise((resolve) => stream.once('data', resolve));
    stream.resume();
  }
  const bytes = Math.round((memory(pid) - before) / idleCount);
  for (const session of sessions) session.destroy();
  return bytes;
}

/** Returns the frame of a request to send a text. */
export const request = (text) =>
  frame(
    encodeMessage(messages1_0.SendMessageRequest, {
      message: { messageId: `m-${process.pid}-${number++}`, role: 'ROLE_USER', parts: [{ text }] },
    }),
  );

function frame(message) {
  const bytes = Buffer.alloc(5 + message.length);
  bytes.writeUInt32BE(message.length, 1);
  bytes.set(message, 5);
  return bytes;
}

/** Sends a call. */
export function openCall(session, method, body) {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/lf.a2a.v1.A2AService/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
    'a2a-version': '1.0',
  });
  stream.on('error', () => {});
  stream.end(body);
  return stream;
}

/** Sends a call and waits for its end. */
export async function call(session, method, body) {
  const stream = openCall(session, method, body);
  stream.resume();
  await ended(stream);
}

function ended(stream) {
  return new Promise((resolve, reject) => {
    let status;
    stream.once('response', (headers) => (status = headers['grpc-status']));
    stream.once('trailers', (trailers) => (status = trailers['grpc-status']));
    stream.once('close', () => (status === '0' ? resolve() : reject(new Error(`status ${status}`))));
    stream.resume();
  });
}

const taskId = (bytes) => {
  const length = bytes.readUInt32BE(1);
  return decodeMessage(messages1_0.StreamResponse, bytes.subarray(5, 5 + length)).task.id;
};

/** Processor time of a process, in seconds. */
function cpuTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Resident memory of a process, in bytes. */
function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1_024;
}
