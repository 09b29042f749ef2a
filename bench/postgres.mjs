// Tasks in PostgreSQL: cost of send, round trips, latency between replicas, takeover, and cost by number of replicas.
import { spawn } from 'node:child_process';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { Bench } from './lib/scenarios.mjs';
import { startPostgres } from './lib/postgres-server.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const dialect = 'jsonrpc-1.0';
const lease = 10_000;
/** Requests per second to each of several replicas. */
const replicaRate = 800;
let port = 27_000 + Math.floor(Math.random() * 500);
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Runs all measurements with PostgreSQL for the given number of rounds. */
export async function postgres({ rounds, seconds, warmup }) {
  const server = await startPostgres(port++);
  const database = new pg.Pool({ connectionString: server.url, max: 2 });
  // Thousands of requests until the code of a server is compiled; a durable store serves fewer per second.
  const options = { seconds, warmup: Math.max(warmup, 10) };
  const rows = [];
  try {
    for (let round = 0; round < rounds; round++) {
      const row = { round };
      for (const [name, script, store] of [
        ['memory', 'dragoman', ''],
        ['postgres', 'dragoman', `${server.url}?schema=send_${round}`],
        ['official', 'official', server.url],
      ]) {
        await database.query('checkpoint');
        row[name] = await withServers([{ script, store, core: '0' }], ([one]) => load(one, server, options));
      }
      row.trips = await roundTrips(server, database, round);
      row.latency = await latency(server, round);
      row.takeover = {
        kill: await takeover(server, database, `kill_${round}`, 'SIGKILL'),
        term: await takeover(server, database, `term_${round}`, 'SIGTERM'),
      };
      row.replicas = {};
      for (const count of [1, 2, 4])
        row.replicas[count] = await replicas(server, `replicas_${round}_${count}`, count, options);
      rows.push(row);
      console.error(`   ${JSON.stringify(row)}`);
    }
    return { version: server.version, rows };
  } finally {
    await database.end();
    await server.stop();
  }
}

async function load(target, server, options) {
  const bench = new Bench(
    { url: target.url + target.path, dialect, pid: target.pid },
    { ...options, conns: 64, genCore: '1' },
  );
  const before = server.cpu();
  const { rps, cpuUsPerReq, p50, p99, requests } = await bench.run('send');
  // Includes the requests of the warm-up, at about the same rate.
  const all = requests * (1 + options.warmup / options.seconds);
  return { rps, p50, p99, cpuUsPerReq, databaseUsPerReq: ((server.cpu() - before) * 1_000) / all };
}

/** Transactions of the database per send; each statement is one. */
async function roundTrips(server, database, round) {
  const count = async () => {
    // An idle connection reports its transactions after ten seconds.
    await sleep(11_000);
    const { rows } = await database.query(
      'select xact_commit + xact_rollback as n from pg_stat_database where datname = current_database()',
    );
    return Number(rows[0].n);
  };
  const store = `${server.url}?schema=trips_${round}`;
  return withServers([{ script: 'dragoman', store }], async ([one]) => {
    const found = {};
    for (const [inFlight, total] of [
      [1, 200],
      [64, 6_400],
    ]) {
      await sendMany(one.url, inFlight, total);
      const before = await count();
      const idleFrom = performance.now();
      const from = await count();
      const idle = (from - before) / (performance.now() - idleFrom);
      const startedAt = performance.now();
      await sendMany(one.url, inFlight, total);
      const sum = (await count()) - from - idle * (performance.now() - startedAt);
      found[inFlight] = Math.max(0, sum) / total;
    }
    return found;
  });
}

async function sendMany(url, inFlight, total) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: inFlight });
  let left = total;
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await call(url, 'SendMessage', message('stream:3 hello'), agent).then(read);
    }),
  );
  agent.destroy();
}

const message = (text) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
});

function call(url, method, params, agent) {
  const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: 'POST', agent, headers }, resolve);
    request.on('error', reject);
    request.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
  });
}

async function read(response) {
  let text = '';
  for await (const piece of response) text += piece;
  return JSON.parse(text);
}

async function* frames(response) {
  let text = '';
  for await (const piece of response) {
    text += piece;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const data = /^data: ?(.*)$/m.exec(text.slice(0, end));
      text = text.slice(end + 2);
      if (data) yield JSON.parse(data[1]).result;
    }
  }
}

/** Milliseconds from the moment when an agent on one replica writes an event until a subscriber of another has it. */
async function latency(server, round, events = 300) {
  const store = `${server.url}?schema=latency_${round}`;
  const target = { script: 'dragoman', store };
  return withServers([target, target], async ([one, two]) => {
    const started = frames(await call(one.url, 'SendStreamingMessage', message(`clock:${events}:20`)));
    const { task } = (await started.next()).value;
    const times = [];
    const here = (async () => {
      for await (const _frame of started);
    })();
    for await (const { artifactUpdate } of frames(await call(two.url, 'SubscribeToTask', { id: task.id }))) {
      const [part] = artifactUpdate?.artifact.parts ?? [];
      if (part) times.push(performance.timeOrigin + performance.now() - Number(part.text));
    }
    await here;
    // The first ones wait for the subscription.
    const sorted = times.slice(10).sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(sorted.length * share)];
    return { events: sorted.length, p50: at(0.5), p99: at(0.99) };
  });
}

/** Milliseconds from a signal to the holder of tasks until another replica holds all of them. */
async function takeover(server, database, schema, signal, tasks = 20) {
  const target = { script: 'dragoman', store: `${server.url}?schema=${schema}` };
  return withServers([target, target], async ([one]) => {
    const configuration = { returnImmediately: true };
    for (let i = 0; i < tasks; i++)
      await call(one.url, 'SendMessage', { ...message('hang'), configuration }).then(read);
    const { rows } = await database.query(`select distinct holder from ${schema}.tasks`);
    const before = rows[0].holder;
    const from = performance.now();
    one.child.kill(signal);
    for (;;) {
      const { rows: found } = await database.query(
        `select count(*) as n from ${schema}.tasks t join ${schema}.replicas r on r.epoch = t.holder
        where t.holder <> $1 and r.expires_at > clock_timestamp()`,
        [before],
      );
      if (Number(found[0].n) === tasks) return performance.now() - from;
      if (performance.now() - from > 4 * lease) throw new Error(`${found[0].n} of ${tasks} tasks taken over`);
      await sleep(10);
    }
  });
}

/**
 * Requests of a process until its code is compiled: the first thousand cost four times as much as later ones. Replicas that
 * share the processors serve fewer requests per second, so a warm-up of some seconds would compare compiled code with code
 * that is not.
 */
const warmUpRequests = 20_000;

/**
 * Processor time of all replicas per request. Each replica serves as many requests per second as a single one, well below
 * what the machine can do: replicas that compete for two cores do not show what one costs the others.
 */
async function replicas(server, schema, count, { seconds }) {
  const target = { script: 'dragoman', store: `${server.url}?schema=${schema}` };
  return withServers(
    Array.from({ length: count }, () => target),
    async (servers) => {
      const measure = (options) =>
        Promise.all(
          servers.map(({ url, pid }) =>
            new Bench({ url, dialect, pid }, { seconds, warmup: 0, conns: 64, ...options }).run('send'),
          ),
        );
      const served = servers.map(() => 0);
      while (Math.min(...served) < warmUpRequests)
        for (const [index, { requests }] of (await measure({ genCore: '1' })).entries())
          served[index] += requests;
      const results = await measure({ gen: 'node', rate: replicaRate });
      const requests = results.reduce((sum, each) => sum + each.requests, 0);
      const time = results.reduce((sum, each) => sum + each.cpuUsPerReq * each.requests, 0);
      return { cpuUsPerReq: time / requests, rps: results.reduce((sum, each) => sum + each.rps, 0) };
    },
  );
}

/** Starts servers and stops them afterwards. */
async function withServers(wanted, work) {
  const servers = [];
  try {
    for (const { script, store, core } of wanted) {
      const own = port++;
      const env = { ...process.env, NODE_ENV: 'production', PORT: String(own), STORE: store, LEGACY: '0' };
      const pinned = core === undefined ? [] : ['taskset', '-c', core];
      const [command, ...args] = [...pinned, process.execPath, `targets/${script}.mjs`];
      const child = spawn(command, args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'], env });
      const url = `http://127.0.0.1:${own}/`;
      servers.push({ url, pid: child.pid, child, path: script === 'official' ? 'a2a/jsonrpc' : '' });
      await listening(`${url}.well-known/agent-card.json`);
    }
    return await work(servers);
  } finally {
    for (const { child } of servers) child.kill('SIGKILL');
  }
}

async function listening(url) {
  for (let tries = 0; tries < 800; tries++) {
    const isThere = await fetch(url, { headers: { 'A2A-Version': '1.0' } }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    await sleep(25);
  }
  throw new Error(`no response from ${url}`);
}
