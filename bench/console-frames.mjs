// Main-thread time per frame of the traffic view while it follows 100,000 records. Run it after the build: `node bench/console-frames.mjs`.
import { chromium } from 'playwright-core';
import { serveConsole } from '../dist/console/index.js';
import { TrafficLog } from '../dist/tap/index.js';

const total = 100_000;
/** Records per step of 20 ms: 10,000 per second. */
const perStep = 200;

/** Measures the CPU time of the tasks of the page that draw a frame, in milliseconds. */
async function measureFrames() {
  const trafficLog = new TrafficLog({ maxRecords: total });
  const running = await serveConsole({ trafficLog });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.goto(running.url);
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Traffic' }).click();
    trafficLog.add(record(0));
    await page.getByRole('listbox', { name: 'Timeline' }).waitFor();
    await browser.startTracing(page, { categories: ['devtools.timeline', 'toplevel'] });
    for (let at = 1; at < total; ) {
      for (let step = 0; step < perStep && at < total; step++, at++) trafficLog.add(record(at));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await page
      .getByRole('option', { name: new RegExp(`message ${total - 1}\\b`) })
      .waitFor({ timeout: 120_000 });
    return summarize(JSON.parse((await browser.stopTracing()).toString('utf8')));
  } finally {
    await browser.close();
    await running.stop();
  }
}

/** An exchange has a request, a response and eight events. */
function record(at) {
  const kind = at % 10 === 0 ? 'request' : at % 10 === 1 ? 'response' : 'frame';
  const [from, to] = kind === 'request' ? ['client', 'gateway'] : ['gateway', 'client'];
  const text = JSON.stringify({ jsonrpc: '2.0', id: at, result: { text: `message ${at}`.padEnd(200, '.') } });
  const decoded = {
    version: '1.0',
    transport: 'JSONRPC',
    operation: 'stream',
    taskId: `task-${Math.floor(at / 10)}`,
    summary: `message ${at}`,
    model: { text },
  };
  return { at: Date.now(), exchangeId: `e-${Math.floor(at / 10)}`, kind, from, to, text, decoded };
}

function summarize({ traceEvents }) {
  const drawing = traceEvents.filter(({ name }) => name === 'FireAnimationFrame');
  const thread = drawing[0]?.tid;
  const tasks = traceEvents.filter(
    ({ name, tid, ph, tdur }) => tid === thread && ph === 'X' && tdur !== undefined && /RunTask$/.test(name),
  );
  const times = tasks
    .filter((task) => drawing.some(({ ts }) => ts >= task.ts && ts <= task.ts + task.dur))
    .map(({ tdur }) => tdur / 1_000)
    .sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  return { frames: times.length, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

console.log(await measureFrames());
