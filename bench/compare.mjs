#!/usr/bin/env node
// Starts each target pinned to one core, interleaves rounds (A,B,C,A,B,C...),
// a fresh server process per measurement, and prints medians, spread and
// paired ratios against a baseline target.
import { parseArgs } from 'node:util';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import { Bench } from './lib/scenarios.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const { values: v } = parseArgs({
  options: {
    targets: { type: 'string', default: path.join(here, 'targets.json') },
    only: { type: 'string' },
    dialects: { type: 'string', default: 'jsonrpc-1.0' },
    scenario: { type: 'string', default: 'send,stream3,stream100,get,card' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '2' },
    conns: { type: 'string', default: '64' },
    gen: { type: 'string' },
    baseline: { type: 'string' },
    'server-core': { type: 'string', default: '0' },
    'gen-core': { type: 'string', default: '1' },
    out: { type: 'string' },
    'node-args': { type: 'string', default: '' },
    'quiet-tries': { type: 'string', default: '40' },
    'max-foreign': { type: 'string', default: '0.1' },
    retries: { type: 'string', default: '2' },
  },
});
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let targets = JSON.parse(readFileSync(v.targets, 'utf8'));
if (v.only)
  targets = v.only.split(',').map(
    (n) =>
      targets.find((t) => t.name === n) ??
      (() => {
        throw new Error('no target ' + n);
      })(),
  );
let port = 20000 + Math.floor(Math.random() * 8000); // below the ephemeral range

async function start(t) {
  const p = port++,
    probe = port++;
  const dir = path.dirname(path.resolve(v.targets));
  const cmd = t.cmd.map((c) => c.replaceAll('$PORT', p));
  const args =
    cmd[0] === 'node'
      ? [
          'node',
          '--expose-gc',
          '--import',
          path.join(here, 'probe.mjs'),
          ...v['node-args'].split(' ').filter(Boolean),
          ...cmd.slice(1),
        ]
      : cmd;
  // $TMP in a target's environment is a folder of its own that goes with the process.
  const tmp = mkdtempSync(path.join(tmpdir(), 'dragoman-bench-'));
  const env = Object.fromEntries(Object.entries(t.env ?? {}).map(([k, x]) => [k, x.replaceAll('$TMP', tmp)]));
  const t0 = performance.now();
  const child = spawn('taskset', ['-c', v['server-core'], ...args], {
    cwd: dir,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', PORT: String(p), PROBE_PORT: String(probe), ...env },
  });
  child.on('exit', () => rmSync(tmp, { recursive: true, force: true }));
  let err = '';
  child.stderr.on('data', (d) => {
    if (err.length < 4000) err += d;
  });
  const card = `http://127.0.0.1:${p}${t.card ?? '/.well-known/agent-card.json'}`;
  for (let i = 0; ; i++) {
    if (child.exitCode !== null || i > 4000) throw new Error(`${t.name} did not start: ${err}`);
    try {
      const r = await fetch(card, { headers: { 'A2A-Version': '1.0', connection: 'close' } });
      if (r.ok) {
        await r.arrayBuffer();
        break;
      }
    } catch {}
    await sleep(3);
  }
  return { p, probe: `http://127.0.0.1:${probe}/`, child, startMs: performance.now() - t0, err: () => err };
}
const stop = (c) =>
  new Promise((r) => {
    if (c.exitCode !== null || c.signalCode !== null) return r();
    c.on('exit', r);
    c.kill('SIGKILL');
  });

// Wait until the machine is quiet: both cores > 80 % idle over 0.7 s.
function idleTicks() {
  const a = readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1).map(Number);
  return { idle: a[3] + a[4], all: a.slice(0, 8).reduce((x, y) => x + y, 0) };
}
async function quiet() {
  for (let i = 0; i < +v['quiet-tries']; i++) {
    const a = idleTicks();
    await sleep(700);
    const b = idleTicks();
    if ((b.idle - a.idle) / (b.all - a.all) > 0.8) return true;
  }
  return false;
}
const rows = []; // {dialect, scenario, target, round, result}
const rounds = +v.rounds;
for (const dialect of v.dialects.split(','))
  for (const scenario of v.scenario.split(','))
    for (let round = 0; round < rounds; round++)
      for (const t of targets) {
        if (!t.paths[dialect]) continue;
        let result;
        for (let attempt = 0; attempt <= +v.retries; attempt++) {
          let s, r;
          await quiet();
          try {
            s = await start(t);
            if (scenario === 'startup') r = { startMs: +s.startMs.toFixed(1) };
            else {
              const b = new Bench(
                {
                  url: `http://127.0.0.1:${s.p}${t.paths[dialect]}`,
                  dialect,
                  card: t.card,
                  pid: s.child.pid,
                  probe: t.cmd[0] === 'node' ? s.probe : undefined,
                },
                {
                  seconds: +v.seconds,
                  warmup: +v.warmup,
                  conns: +v.conns,
                  genCore: v['gen-core'],
                  serverCore: v['server-core'],
                  ...(v.gen && { gen: v.gen }),
                },
              );
              r = await b.run(scenario);
            }
            if (s.err()) r.stderr = s.err().slice(0, 300);
          } catch (e) {
            r = { error: e.message + (s ? ' | ' + s.err().slice(0, 300) : '') };
          }
          if (s) await stop(s.child);
          r.attempt = attempt;
          if (!result || result.error || (!r.error && r.foreign < result.foreign)) result = r;
          if (!r.error && !(r.foreign > +v['max-foreign'])) break; // quiet enough
        }
        rows.push({ dialect, scenario, target: t.name, round, result });
        process.stderr.write(
          `${dialect} ${scenario} r${round} ${t.name}: ${result.error ?? (result.rps !== undefined ? `${result.rps} req/s p50 ${result.p50} p99 ${result.p99} cpu ${result.cpuUsPerReq}us foreign ${result.foreign}${result.errors ? ` ERR ${result.errors}` : ''}${result.suspect ? ' SUSPECT ' + result.suspect : ''}` : JSON.stringify(result).slice(0, 600))}\n`,
        );
        if (v.out) writeFileSync(v.out, JSON.stringify({ args: v, rows }, null, 1));
        await sleep(200);
      }

const med = (a) => {
  const s = [...a].sort((x, y) => x - y),
    n = s.length;
  return n ? (n % 2 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2) : NaN;
};
const cv = (a) => {
  const m = a.reduce((x, y) => x + y, 0) / a.length;
  return Math.sqrt(a.reduce((x, y) => x + (y - m) ** 2, 0) / Math.max(1, a.length - 1)) / m;
};
const summary = [];
for (const key of new Set(rows.map((r) => r.dialect + ' ' + r.scenario))) {
  const [dialect, scenario] = key.split(' ');
  const set = rows.filter((r) => r.dialect === dialect && r.scenario === scenario);
  const metric = scenario === 'startup' ? 'startMs' : 'rps';
  const val = (n) => set.filter((r) => r.target === n && r.result[metric] !== undefined);
  const base = v.baseline ?? targets[0].name;
  for (const t of targets) {
    const ok = val(t.name);
    if (!ok.length) continue;
    const a = ok.map((r) => r.result[metric]);
    const ratios = ok
      .map((r) => {
        const b = set.find((x) => x.target === base && x.round === r.round)?.result[metric];
        return b ? r.result[metric] / b : null;
      })
      .filter(Boolean);
    const g = (k) => {
      const x = ok.map((r) => r.result[k]).filter((y) => typeof y === 'number');
      return x.length ? +med(x).toFixed(3) : undefined;
    };
    summary.push({
      dialect,
      scenario,
      target: t.name,
      n: a.length,
      [metric]: +med(a).toFixed(1),
      min: +Math.min(...a).toFixed(1),
      max: +Math.max(...a).toFixed(1),
      cvPct: +(cv(a) * 100).toFixed(1),
      p50: g('p50'),
      p99: g('p99'),
      cpuUsPerReq: g('cpuUsPerReq'),
      sysShare: g('sysShare'),
      eventsPerSec: g('eventsPerSec'),
      respBytes: g('respBytes'),
      foreign: g('foreign'),
      [`x_${base}`]: ratios.length ? +med(ratios).toFixed(2) : undefined,
      x_min: ratios.length ? +Math.min(...ratios).toFixed(2) : undefined,
      x_max: ratios.length ? +Math.max(...ratios).toFixed(2) : undefined,
      errors: ok.reduce((s, r) => s + (r.result.errors ?? 0), 0),
    });
  }
}
// Scenarios with nested figures (list, idle, subs, fanout): median of every numeric leaf.
const leaves = (o, p = '', out = {}) => {
  for (const [k, x] of Object.entries(o ?? {})) {
    const q = p ? `${p}.${k}` : k;
    if (typeof x === 'number') out[q] = x;
    else if (x && typeof x === 'object') leaves(x, q, out);
  }
  return out;
};
for (const key of new Set(rows.map((r) => r.dialect + ' ' + r.scenario))) {
  const [dialect, scenario] = key.split(' ');
  for (const t of targets) {
    const ok = rows
      .filter(
        (r) =>
          r.dialect === dialect &&
          r.scenario === scenario &&
          r.target === t.name &&
          !r.result.error &&
          r.result.rps === undefined &&
          r.result.startMs === undefined,
      )
      .map((r) => leaves(r.result));
    if (!ok.length) continue;
    const metrics = {};
    for (const k of Object.keys(ok[0]))
      if (k !== 'attempt') metrics[k] = +med(ok.map((x) => x[k]).filter((x) => x !== undefined)).toFixed(2);
    summary.push({ dialect, scenario, target: t.name, n: ok.length, metrics });
  }
}
if (v.out) writeFileSync(v.out, JSON.stringify({ args: v, summary, rows }, null, 1));
console.log(JSON.stringify(summary, null, 1));
process.exit(0);
