#!/usr/bin/env node
// Client-side throughput. Loads an adapter module and drives it from this one
// process against a server that is faster than any client (floor-http):
//   taskset -c 1 node client.mjs --adapter clients/official.mjs --url http://127.0.0.1:PORT [--transport GRPC] [--scenario send,stream100] [--conc 1,16,64]
// Adapter: export async function create(baseUrl, transport) -> { send(text): Promise, stream(text): AsyncIterable }
import { parseArgs } from 'node:util';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
const { values: v } = parseArgs({
  options: {
    adapter: { type: 'string' },
    url: { type: 'string' },
    transport: { type: 'string', default: 'JSONRPC' },
    scenario: { type: 'string', default: 'send,stream3,stream100' },
    conc: { type: 'string', default: '1,16,64' },
    seconds: { type: 'string', default: '4' },
    warmup: { type: 'string', default: '1.5' },
    // Calls of the warm-up and of the measurement, in place of their times; a stream of 100 counts as six.
    calls: { type: 'string' },
  },
});
const { create } = await import(pathToFileURL(path.resolve(v.adapter)));
const c = await create(v.url, v.transport);
async function drive(conc, secs, op, calls = Infinity) {
  let n = 0,
    ev = 0,
    err = 0;
  const lat = [];
  let started = 0;
  const end = calls === Infinity ? performance.now() + secs * 1000 : Infinity;
  const cpu0 = process.cpuUsage(),
    t0 = performance.now();
  await Promise.all(
    Array.from({ length: conc }, async () => {
      while (performance.now() < end && started++ < calls) {
        const t = performance.now();
        try {
          const k = await op();
          ev += k;
          n++;
        } catch (e) {
          err++;
          if (err === 1) console.error(e);
          if (err > 50) throw e;
        }
        lat.push(performance.now() - t);
      }
    }),
  );
  const s = (performance.now() - t0) / 1000,
    u = process.cpuUsage(cpu0);
  lat.sort((a, b) => a - b);
  return {
    conc,
    calls: n,
    callsPerSec: Math.round(n / s),
    eventsPerSec: ev ? Math.round(ev / s) : undefined,
    p50: +lat[lat.length >> 1].toFixed(3),
    p99: +lat[(lat.length * 0.99) | 0].toFixed(3),
    cpuUsPerCall: +((u.user + u.system) / n).toFixed(1),
    errors: err,
  };
}
const out = { adapter: path.basename(v.adapter), scenarios: {} };
for (const sc of v.scenario.split(',')) {
  const m = /^([a-z]+)(\d+)?$/.exec(sc);
  const op =
    m[1] === 'send'
      ? async () => {
          await c.send('stream:3 hello from the bench, please echo this short sentence');
          return 0;
        }
      : async () => {
          let k = 0;
          for await (const _ of c.stream(
            `stream:${m[2]} hello from the bench, please echo this short sentence`,
          ))
            k++;
          if (k !== +m[2] + 1) throw new Error(`got ${k} events`);
          return k;
        };
  out.scenarios[sc] = [];
  for (const k of v.conc.split(',').map(Number)) {
    const calls = v.calls && Math.round(+v.calls / (sc === 'stream100' ? 6 : 1));
    await drive(k, +v.warmup, op, calls);
    out.scenarios[sc].push(await drive(k, +v.seconds, op, calls));
  }
}
console.log(JSON.stringify(out));
process.exit(0);
