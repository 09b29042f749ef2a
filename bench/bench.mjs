#!/usr/bin/env node
// Measure one running A2A server. See README.md.
import { parseArgs } from 'node:util';
import { Bench } from './lib/scenarios.mjs';
const { values: v } = parseArgs({
  options: {
    url: { type: 'string' },
    dialect: { type: 'string', default: 'jsonrpc-1.0' },
    card: { type: 'string' },
    scenario: { type: 'string', default: 'send,send1,stream3,stream100,tick100,get,card' },
    seconds: { type: 'string', default: '6' },
    warmup: { type: 'string', default: '2' },
    conns: { type: 'string', default: '64' },
    pid: { type: 'string' },
    probe: { type: 'string' },
    gen: { type: 'string' },
    core: { type: 'string' },
  },
});
if (!v.url) {
  console.error(
    'usage: bench.mjs --url http://127.0.0.1:PORT/path --dialect jsonrpc-1.0|jsonrpc-0.3|rest-1.0 [--scenario a,b] [--pid N] [--probe URL]',
  );
  process.exit(2);
}
const b = new Bench(
  { url: v.url, dialect: v.dialect, card: v.card, pid: v.pid && +v.pid, probe: v.probe },
  { seconds: +v.seconds, warmup: +v.warmup, conns: +v.conns, genCore: v.core, ...(v.gen && { gen: v.gen }) },
);
const out = { url: v.url, dialect: v.dialect, at: new Date().toISOString(), scenarios: {} };
for (const s of v.scenario.split(',')) {
  try {
    out.scenarios[s] = await b.run(s);
  } catch (e) {
    out.scenarios[s] = { error: e.message };
  }
}
console.log(JSON.stringify(out, null, 2));
process.exit(0);
