// Drives wrk (C, one thread) so that the generator is never the bottleneck.
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const haveWrk = () => spawnSync('wrk', ['-v']).status !== null;
const lua = (s) => '"' + s.replace(/[\\"]/g, '\\$&').replace(/\r/g, '\\r').replace(/\n/g, '\\n') + '"';

let runs = Math.floor(Math.random() * 99);

function script(reqs) {
  const rows = reqs
    .map((r) => `{${lua(r.head + r.pre)}, ${r.post === null ? 'nil' : lua(r.post)}}`)
    .join(',\n');
  return `
local R = {${rows}}
-- a million ids for each run, so that no message of one comes again in another, also if both run at the same time
local n, k, base = 0, #R, ${(runs++ % 99) * 1_000_000}
function request()
  n = n + 1
  local r = R[(n * 7919) % k + 1]
  if r[2] == nil then return r[1] end
  return r[1] .. string.format("%08d", (base + n) % 99000000) .. r[2]
end
function done(s, l, q)
  io.write(string.format('\\nJSON{"requests":%d,"us":%d,"bytes":%d,"non2xx":%d,"connect":%d,"read":%d,"write":%d,"timeout":%d,"p50":%f,"p90":%f,"p99":%f,"max":%f}\\n',
    s.requests, s.duration, s.bytes, s.errors.status, s.errors.connect, s.errors.read, s.errors.write, s.errors.timeout,
    l:percentile(50)/1000, l:percentile(90)/1000, l:percentile(99)/1000, l.max/1000))
end`;
}

export async function wrk({ host, port, reqs, conns, seconds, core }) {
  const dir = mkdtempSync(path.join(tmpdir(), 'a2abench-'));
  const file = path.join(dir, 's.lua');
  writeFileSync(file, script(reqs));
  const args = [
    '-t1',
    `-c${conns}`,
    `-d${seconds}s`,
    '--timeout',
    '60s',
    '-s',
    file,
    `http://${host}:${port}/`,
  ];
  const [cmd, a] = core === undefined ? ['wrk', args] : ['taskset', ['-c', String(core), 'wrk', ...args]];
  const out = await new Promise((res, rej) => {
    const p = spawn(cmd, a);
    let o = '';
    p.stdout.on('data', (d) => (o += d));
    p.stderr.on('data', (d) => (o += d));
    p.on('error', rej);
    p.on('close', () => res(o));
  });
  rmSync(dir, { recursive: true });
  const m = /JSON(\{.*\})/.exec(out);
  if (!m) throw new Error('wrk gave no result: ' + out.slice(0, 500));
  const r = JSON.parse(m[1]);
  return {
    gen: 'wrk',
    requests: r.requests,
    seconds: r.us / 1e6,
    rps: r.requests / (r.us / 1e6),
    bytes: r.bytes,
    errors: r.non2xx + r.connect + r.read + r.write + r.timeout,
    p50: r.p50,
    p90: r.p90,
    p99: r.p99,
    max: r.max,
  };
}
