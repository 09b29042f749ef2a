// Overhead of the gateway: HTTP requests, first event of a stream, in-process mesh, large file.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Bench } from './lib/scenarios.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const dialect = 'jsonrpc-1.0';
let port = 29_000 + Math.floor(Math.random() * 500);

/** Runs all gateway measurements for the given number of rounds. */
export async function gateway({ rounds, seconds, warmup }) {
  const rows = [];
  for (let round = 0; round < rounds; round++) {
    // The server under test (gateway or agent) has its own core; the upstream agent shares the other one.
    const direct = await withServers([['dragoman', 0]], ([server]) => measure(server, '', seconds, warmup));
    const through = await withServers(
      [
        ['dragoman', 1],
        ['gateway', 0],
      ],
      ([, server]) => measure(server, 'agents/echo', seconds, warmup),
    );
    const trips = await child('lib/mesh-round-trips.mjs', [String(seconds)]);
    rows.push({ round, direct, through, trips, file: await largeFile(100) });
    console.error(`   ${JSON.stringify(rows.at(-1))}`);
  }
  return { rows };
}

async function measure(server, at, seconds, warmup) {
  const url = server.url + at;
  const bench = new Bench({ url, dialect, pid: server.pid }, { seconds, warmup, conns: 64, genCore: '1' });
  const { rps, cpuUsPerReq } = await bench.run('send');
  return { rps, cpuUsPerReq, first: await firstEvent(url) };
}

/** The median time until the first event of a stream, in milliseconds, one stream after the other. */
async function firstEvent(url, count = 400) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const times = [];
  for (let i = 0; i < count; i++) times.push(await timeToFirst(url, agent, i));
  agent.destroy();
  const warm = times.slice(count / 4).sort((a, b) => a - b);
  return warm[warm.length >> 1];
}

function timeToFirst(url, agent, number) {
  const message = {
    messageId: `f-${Date.now()}-${number}`,
    role: 'ROLE_USER',
    parts: [{ text: 'stream:3' }],
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } });
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0', accept: 'text/event-stream' };
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      let first;
      response.on('data', () => (first ??= performance.now() - began));
      response.on('end', () => resolve(first));
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Starts servers, each with the URL of the previous one, and stops them afterwards. */
async function withServers(wanted, work) {
  const servers = [];
  try {
    for (const [name, core] of wanted) {
      const own = port++;
      const AGENT_URL = servers.at(-1)?.url ?? '';
      const env = { ...process.env, NODE_ENV: 'production', PORT: String(own), AGENT_URL };
      const args = ['-c', String(core), 'node', `targets/${name}.mjs`];
      const child = spawn('taskset', args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'], env });
      const url = `http://127.0.0.1:${own}/`;
      servers.push({ url, pid: child.pid, child });
      await listening(`${url}healthz`);
    }
    return await work(servers);
  } finally {
    for (const { child } of servers) child.kill('SIGKILL');
  }
}

async function listening(url) {
  for (let tries = 0; tries < 400; tries++) {
    const isThere = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`no response from ${url}`);
}

/** Runs a script on its own core and parses its output. */
function child(script, args, env = {}) {
  return new Promise((resolve, reject) => {
    const running = spawn('taskset', ['-c', '0', 'node', '--expose-gc', script, ...args], {
      cwd: here,
      env: { ...process.env, NODE_ENV: 'production', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    running.stdout.on('data', (data) => (text += data));
    running.on('exit', (code) =>
      code === 0 ? resolve(JSON.parse(text)) : reject(new Error(`${script} ended with ${code}`)),
    );
  });
}

/** Streams a file in chunks through a gateway with an artifact store. */
async function largeFile(megabytes) {
  const server = http.createServer((request, response) => serveLarge(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  try {
    return await child('lib/large-artifact.mjs', [String(megabytes)], { AGENT_URL: url });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A 1.0 agent that returns a file of the requested number of megabytes. */
async function serveLarge(request, response) {
  if (request.method === 'GET') {
    const supportedInterfaces = [
      { url: `http://${request.headers.host}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    const modes = { defaultInputModes: ['*/*'], defaultOutputModes: ['*/*'] };
    const about = { name: 'Large', description: 'Makes large files', version: '1', skills: [] };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ ...about, ...modes, capabilities: { streaming: true }, supportedInterfaces }),
    );
    return;
  }
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const { id, params } = JSON.parse(Buffer.concat(chunks).toString());
  const pieces = Number(params.message.parts[0].text) * 4;
  const ids = { taskId: crypto.randomUUID(), contextId: crypto.randomUUID() };
  const raw = Buffer.alloc(262_144, 'dragoman').toString('base64');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = async (result) => {
    const frame = `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
    if (!response.write(frame)) await new Promise((resolve) => response.once('drain', resolve));
  };
  const status = (state) => ({ state: `TASK_STATE_${state}` });
  await say({ task: { id: ids.taskId, contextId: ids.contextId, status: status('WORKING') } });
  for (let i = 0; i < pieces; i++) {
    const parts = [{ raw, filename: 'large.bin', mediaType: 'application/octet-stream' }];
    const artifact = { artifactId: 'large', name: 'large.bin', parts };
    await say({ artifactUpdate: { ...ids, artifact, append: i > 0, lastChunk: i === pieces - 1 } });
  }
  await say({ statusUpdate: { ...ids, status: status('COMPLETED') } });
  response.end();
}
