#!/usr/bin/env node
// npm run bench: every figure of docs/performance.md, each a ratio taken in one run.
//   npm run bench                     all groups (about 40 minutes on two cores)
//   npm run bench -- send sqlite      some groups
//   npm run bench -- --rounds 5       more rounds
//   npm run bench -- --write          updates the table in docs/performance.md
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { showProgress } from '../scripts/test/progress.mjs';
import { gateway } from './gateway.mjs';
import { runClient } from './lib/run-client.mjs';
import { clientRows, table } from './report.mjs';
import { startup } from './startup.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '2' },
    write: { type: 'boolean', default: false },
  },
});

const three = 'official,floor,dragoman';
/** Groups of server comparisons: targets interleaved, one dialect after the other. */
const groups = {
  send: { only: three, dialects: 'jsonrpc-1.0,rest-1.0', scenario: 'send' },
  streams: { only: three, dialects: 'jsonrpc-1.0', scenario: 'stream3,stream100,tick100' },
  reads: { only: three, dialects: 'jsonrpc-1.0', scenario: 'get,card' },
  versions: { only: 'dragoman', dialects: 'jsonrpc-1.0,jsonrpc-0.3,jsonrpc-0.1', scenario: 'send,stream3' },
  sqlite: {
    only: 'dragoman,dragoman-sqlite,official,official-sqlite',
    dialects: 'jsonrpc-1.0',
    scenario: 'send',
  },
  growth: {
    only: 'floor,dragoman',
    dialects: 'jsonrpc-1.0',
    scenario: 'stream10,stream100,stream1000,stream10000,stream4000',
  },
  list: {
    only: 'dragoman',
    dialects: 'jsonrpc-1.0',
    scenario: 'list1000,list100000,list1000000',
    rounds: '1',
  },
  memory: { only: three, dialects: 'jsonrpc-1.0', scenario: 'list20000,idle10000,subs', rounds: '1' },
  fanout: { only: three, dialects: 'jsonrpc-1.0', scenario: 'fanout' },
};
const duration = { rounds: +values.rounds, seconds: +values.seconds, warmup: +values.warmup };
/** Groups that are not a comparison of servers. */
const others = {
  client: clients,
  bridge: async () => (await import('./bridge.mjs')).bridgeCost(),
  startup,
  postgres: async () => (await import('./postgres.mjs')).postgres(duration),
  grpc: async () => (await import('./grpc.mjs')).grpc(duration),
  'grpc-client': async () => (await import('./grpc-client.mjs')).grpcClient(duration),
  gateway: () => gateway(duration),
};
const known = [...Object.keys(groups), ...Object.keys(others)];
const wanted = positionals.length > 0 ? positionals : known;
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown group: ${unknown.join(', ')}. Groups: ${known.join(', ')}.`);
  process.exit(2);
}
if (!existsSync(path.join(here, '../dist/server/index.js'))) {
  console.error('Build first: npm run build');
  process.exit(2);
}
if (spawnSync('wrk', ['-v']).error)
  console.error(
    'wrk is not installed; the built-in generator is slower and may be the limit (apt-get install wrk).',
  );

mkdirSync(path.join(here, 'results'), { recursive: true });
for (const name of wanted) {
  console.error(`\n== ${name} (${wanted.indexOf(name) + 1} of ${wanted.length})`);
  // Groups print lines of their own, so the progress is a line every 8 seconds also on a terminal.
  const progress = showProgress(name, undefined, {
    output: { isTTY: false, write: (text) => process.stderr.write(`   ${text}`) },
  });
  const out = path.join(here, 'results', `${name}.json`);
  if (Object.hasOwn(others, name)) writeFileSync(out, JSON.stringify(await others[name]()));
  else await compare(groups[name], out);
  progress.end('done');
}
// The page contains the newest result of every group; the current results are printed.
const fileOf = (name) => path.join(here, 'results', `${name}.json`);
const resultOf = (name) => ({ name, ...JSON.parse(readFileSync(fileOf(name), 'utf8')) });
const text = table(wanted.map(resultOf));
console.log(text);
if (values.write) {
  writeTable(table(known.filter((name) => existsSync(fileOf(name))).map(resultOf)));
}

function compare(group, out) {
  const args = [
    'compare.mjs',
    '--out',
    out,
    '--rounds',
    group.rounds ?? values.rounds,
    '--seconds',
    values.seconds,
    '--warmup',
    values.warmup,
  ];
  for (const key of ['only', 'dialects', 'scenario']) args.push(`--${key}`, group[key]);
  return run('node', args);
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${args[0]} ended with ${code}`))));
  });
}

/** Measures our client and the official one against the floor server, which is faster than both. */
async function clients() {
  const port = 28_000 + Math.floor(Math.random() * 1_000);
  const server = spawn('taskset', ['-c', '0', 'node', 'targets/floor-http.mjs'], {
    cwd: here,
    env: { ...process.env, PORT: String(port) },
  });
  const url = `http://127.0.0.1:${port}`;
  try {
    for (let tries = 0; tries < 200; tries++) {
      if (
        await fetch(`${url}/.well-known/agent-card.json`).then(
          (r) => r.ok,
          () => false,
        )
      )
        break;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const rows = [];
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const adapter of ['official', 'undici', 'dragoman'])
        rows.push({ round, adapter, ...(await measure(adapter, url)) });
    }
    return clientRows(rows);
  } finally {
    server.kill('SIGKILL');
  }
}

async function measure(adapter, url) {
  const rates = Object.fromEntries(
    Object.entries(await runClient(adapter, url)).map(([name, { callsPerSec }]) => [name, callsPerSec]),
  );
  console.error(`   ${adapter}: ${JSON.stringify(rates)}`);
  return rates;
}

function writeTable(text) {
  const file = path.join(here, '../docs/performance.md');
  const begin = '<!-- table: npm run bench -- --write -->';
  const end = '<!-- /table -->';
  const page = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    `${page.slice(0, page.indexOf(begin) + begin.length)}\n\n${text}\n\n${page.slice(page.indexOf(end))}`,
  );
}
