import net from 'node:net';
import { readFileSync } from 'node:fs';
import { dialects, raw, render } from './dialects.mjs';
import { once, load, Parser } from './gen-node.mjs';
import { wrk, haveWrk } from './gen-wrk.mjs';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const TEXT = 'hello from the bench, please echo this short sentence';
const useWrk = haveWrk();

export class Bench {
  /** target: {url, dialect, card?, pid?, probe?}; opts: {seconds, warmup, conns, genCore, gen, rate}; `rate` needs gen: 'node' */
  constructor(target, opts = {}) {
    this.t = target;
    this.o = { seconds: 6, warmup: 2, conns: 64, gen: useWrk ? 'wrk' : 'node', ...opts };
    const u = new URL(target.url);
    this.host = u.hostname;
    this.port = +u.port;
    this.base = u.pathname;
    this.hh = u.host;
    this.d = dialects[target.dialect];
    if (!this.d) throw new Error(`unknown dialect ${target.dialect}; one of ${Object.keys(dialects)}`);
  }
  req(kind, ...a) {
    return raw(
      this.d[kind](
        kind === 'card' ? (this.t.card ?? '/.well-known/agent-card.json') : this.base,
        ...(kind === 'card' ? [] : a),
      ),
      this.hh,
    );
  }
  once(req) {
    return once({ host: this.host, port: this.port, req });
  }
  cpu() {
    if (!this.t.pid) return null;
    const f = readFileSync(`/proc/${this.t.pid}/stat`, 'utf8');
    const a = f.slice(f.lastIndexOf(')') + 2).split(' ');
    return { user: +a[11] * 10, sys: +a[12] * 10 }; // ms at 100 Hz
  }
  /** Busy milliseconds of one core, all processes. */
  core(n) {
    if (n === undefined || n === null) return null;
    const l = readFileSync('/proc/stat', 'utf8')
      .split('\n')
      .find((x) => x.startsWith(`cpu${n} `));
    const a = l.split(/\s+/).slice(1).map(Number);
    return {
      busy: (a[0] + a[1] + a[2] + a[5] + a[6] + a[7]) * 10,
      soft: (a[5] + a[6]) * 10,
      at: performance.now(),
    };
  }
  async mem() {
    if (this.t.probe) {
      const r = await (await fetch(this.t.probe)).json();
      return { rss: r.rss, heap: r.heapUsed, external: r.external + 0, gc: r.gc };
    }
    if (!this.t.pid) return null;
    const m = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.t.pid}/status`, 'utf8'));
    return { rss: +m[1] * 1024, heap: null, external: null, gc: false };
  }

  /** Checks the answer is right before timing it. */
  async verify(kind, req, frames) {
    const r = await this.once(req);
    if (r.status !== 200) throw new Error(`${kind}: HTTP ${r.status} ${r.body.slice(0, 300)}`);
    if (frames !== undefined) {
      if (r.frames !== frames)
        throw new Error(`${kind}: expected ${frames} SSE frames, got ${r.frames}: ${r.body.slice(0, 400)}`);
      return { ...r, task: null };
    }
    if (kind === 'card') {
      JSON.parse(r.body);
      return r;
    }
    const res = this.d.unwrap(JSON.parse(r.body));
    if (kind === 'send' || kind === 'get') {
      const t = this.d.task(res);
      if (this.d.state(t.status.state) !== 'completed' || !t.artifacts?.length)
        throw new Error(`${kind}: not a completed task with artifact: ${r.body.slice(0, 400)}`);
      return { ...r, task: t };
    }
    return { ...r, res };
  }
  async drive(reqs, size, { conns = this.o.conns, seconds = this.o.seconds, warmup = this.o.warmup } = {}) {
    const go = (s) =>
      this.o.gen === 'wrk'
        ? wrk({ host: this.host, port: this.port, reqs, conns, seconds: s, core: this.o.genCore })
        : load({ host: this.host, port: this.port, reqs, conns, seconds: s, rate: this.o.rate });
    if (warmup) await go(warmup);
    const b0 = this.core(this.o.serverCore),
      c0 = this.cpu();
    const r = await go(seconds);
    const c1 = this.cpu(),
      b1 = this.core(this.o.serverCore);
    const perResp = r.bytes / Math.max(1, r.requests);
    const out = {
      gen: r.gen,
      conns,
      seconds: +r.seconds.toFixed(2),
      requests: r.requests,
      rps: +r.rps.toFixed(1),
      p50: +r.p50.toFixed(3),
      p90: +r.p90.toFixed(3),
      p99: +r.p99.toFixed(3),
      max: +r.max.toFixed(3),
      errors: r.errors,
      respBytes: Math.round(perResp),
    };
    // wrk counts bytes of unfinished responses too, so only a shortfall is suspicious
    if (size && perResp < size * 0.9)
      out.suspect = `mean response ${Math.round(perResp)} B, verified ${size} B`;
    if (c0) {
      const u = c1.user - c0.user,
        s = c1.sys - c0.sys;
      out.cpuUsPerReq = +(((u + s) * 1000) / r.requests).toFixed(1);
      out.sysShare = +(s / (u + s)).toFixed(3);
    }
    // share of the server's core used by other processes (noise), interrupts excluded
    if (b0 && c0)
      out.foreign = +Math.max(
        0,
        (b1.busy - b0.busy - (b1.soft - b0.soft) - (c1.user + c1.sys - c0.user - c0.sys)) / (b1.at - b0.at),
      ).toFixed(3);
    return out;
  }
  async send(conns) {
    const req = this.req('send', `stream:3 ${TEXT}`);
    const v = await this.verify('send', req);
    return this.drive([req], v.bytes, conns ? { conns } : {});
  }
  /** Steady-state latency: same connections throughout, ramp-up not recorded. */
  async lat(conns = this.o.conns) {
    const req = this.req('send', `stream:3 ${TEXT}`);
    const v = await this.verify('send', req);
    const r = await load({
      host: this.host,
      port: this.port,
      reqs: [req],
      conns,
      seconds: this.o.seconds,
      skip: 3,
    });
    return {
      gen: r.gen,
      conns,
      rps: +r.rps.toFixed(1),
      p50: r.p50,
      p90: r.p90,
      p99: r.p99,
      max: r.max,
      errors: r.errors,
      respBytes: Math.round(r.bytes / r.requests),
      verified: v.bytes,
    };
  }
  async stream(cmd, n) {
    const req = this.req('stream', `${cmd}:${n} ${TEXT}`);
    const v = await this.verify('stream', req, n + 1);
    const r = await this.drive([req], v.bytes, n >= 50 ? { conns: Math.min(this.o.conns, 32) } : {});
    return {
      ...r,
      framesPerStream: n + 1,
      eventsPerSec: Math.round(r.rps * (n + 1)),
      cpuUsPerEvent: r.cpuUsPerReq && +(r.cpuUsPerReq / (n + 1)).toFixed(2),
    };
  }
  async seedIds(n) {
    const req = this.req('send', `stream:3 ${TEXT}`);
    const ids = [];
    for (let i = 0; i < n; i++) ids.push((await this.verify('send', req)).task.id);
    return ids;
  }
  async get() {
    const ids = await this.seedIds(100);
    const reqs = ids.map((id) => this.req('get', id));
    const v = await this.verify('get', reqs[0]);
    return this.drive(reqs, v.bytes);
  }
  async card() {
    const req = this.req('card');
    const v = await this.verify('card', req);
    return this.drive([req], v.bytes);
  }
  async fill(n) {
    const req = this.req('send', `stream:3 ${TEXT}`);
    const r = await load({ host: this.host, port: this.port, reqs: [req], conns: 32, count: n });
    return { filled: r.requests, fillPerSec: Math.round(r.rps), errors: r.errors };
  }
  /** ListTasks cost and memory per retained task as the store grows. */
  async list(sizes = [10_000, 100_000]) {
    if (!this.d.list) return { skipped: 'dialect has no list' };
    const out = { steps: [] };
    await this.fill(500); // warm code paths so that one-off allocations do not count as task memory
    let have = 500;
    let prev = await this.mem();
    for (const size of sizes) {
      const f = await this.fill(size - have);
      await sleep(500);
      const m = await this.mem();
      const step = { tasks: size, ...f };
      if (m && prev) {
        step.rssPerTask = Math.round((m.rss - prev.rss) / (size - have));
        if (m.heap !== null) step.heapPerTask = Math.round((m.heap - prev.heap) / (size - have));
        step.rss = m.rss;
        step.heap = m.heap;
      }
      prev = m;
      have = size;
      const first = this.req('list', 50);
      const v = await this.verify('list', first);
      if ((v.res.tasks ?? []).length !== 50)
        throw new Error('list: expected 50 tasks, got ' + v.res.tasks?.length);
      step.totalSize = v.res.totalSize;
      step.first = await this.drive([first], v.bytes, { conns: 4, seconds: this.o.seconds, warmup: 1 });
      if (v.res.nextPageToken) {
        const deep = this.req('list', 50, v.res.nextPageToken);
        const w = await this.verify('list', deep);
        step.second = await this.drive([deep], w.bytes, {
          conns: 4,
          seconds: Math.min(4, this.o.seconds),
          warmup: 0,
        });
        step.secondPageTasks = (w.res.tasks ?? []).length;
      }
      out.steps.push(step);
    }
    return out;
  }
  /** Opens n SSE connections on req(i) and waits for `want` frames on each. */
  open(n, req, want, onFrame) {
    return new Promise((resolve, reject) => {
      const socks = [];
      let ready = 0,
        next = 0,
        failed = 0;
      const launch = () => {
        if (next >= n) return;
        next++;
        const s = net.connect(this.port, this.host);
        socks.push(s);
        let seen = 0;
        const p = new Parser({
          onFrame: (k) => {
            const was = seen;
            seen += k;
            onFrame?.(k);
            if (was < want && seen >= want) {
              ready++;
              if (ready === n) resolve({ socks, failed });
              else launch();
            }
          },
          onDone: (r) => {
            if (seen < want) {
              failed++;
              reject(new Error(`stream ended early: HTTP ${r.status}`));
            }
          },
        });
        s.on('connect', () => s.write(render(req)));
        s.on('data', (d) => p.push(d));
        s.on('error', (e) => {
          if (seen < want) reject(e);
        });
      };
      for (let i = 0; i < Math.min(n, 100); i++) launch();
      if (n === 0) resolve({ socks, failed });
      setTimeout(() => reject(new Error(`only ${ready}/${n} streams open after 60 s`)), 60_000).unref();
    });
  }
  /** Memory per idle open stream (each on its own task), and memory retained after the clients disconnect. */
  async idle(levels = [1000, 5000, 10_000]) {
    const req = this.req('stream', `hang ${TEXT}`);
    // warm: open and drop a few hundred
    const w = await this.open(300, req, 2);
    for (const s of w.socks) s.destroy();
    await sleep(1500);
    const base = await this.mem();
    const all = [];
    const out = { base, steps: [] };
    for (const n of levels) {
      const t0 = performance.now();
      const r = await this.open(n - all.length, req, 2);
      all.push(...r.socks);
      const openMs = performance.now() - t0;
      await sleep(1500);
      const m = await this.mem();
      out.steps.push({
        streams: n,
        openPerSec: Math.round(((n - (out.steps.at(-1)?.streams ?? 0)) / openMs) * 1000),
        rssPerStream: Math.round((m.rss - base.rss) / n),
        heapPerStream: m.heap === null ? null : Math.round((m.heap - base.heap) / n),
        externalPerStream: m.external === null ? null : Math.round((m.external - base.external) / n),
        rss: m.rss,
      });
    }
    for (const s of all) s.destroy();
    await sleep(3000);
    const after = await this.mem();
    out.afterClose = {
      heapRetainedPerStream: after.heap === null ? null : Math.round((after.heap - base.heap) / all.length),
      rss: after.rss,
    };
    return out;
  }
  async startTask(text) {
    // stream kept open by us; resolves with the task id once the first frame is in
    const req = this.req('stream', text);
    return new Promise((resolve, reject) => {
      const s = net.connect(this.port, this.host);
      let got = '';
      s.on('connect', () => s.write(render(req)));
      s.on('data', (d) => {
        got += d;
        const m = /data: ?(\{.*\})\r?\n/.exec(got);
        if (m) {
          s.removeAllListeners('data');
          s.on('data', () => {});
          try {
            const t = this.d.task(this.d.unwrap(JSON.parse(m[1])));
            resolve({ id: t.id, sock: s });
          } catch (e) {
            reject(e);
          }
        }
      });
      s.on('error', reject);
    });
  }
  /** n subscribers on ONE never-ending task: memory each, and memory retained after they disconnect. */
  async subscribers(n = 2000) {
    const { id, sock } = await this.startTask(`hang ${TEXT}`);
    await sleep(200);
    const req = this.req('subscribe', id);
    const w = await this.open(200, req, 1);
    for (const s of w.socks) s.destroy();
    await sleep(1500);
    const base = await this.mem();
    const r = await this.open(n, req, 1);
    await sleep(1500);
    const m = await this.mem();
    for (const s of r.socks) s.destroy();
    await sleep(3000);
    const after = await this.mem();
    sock.destroy();
    return {
      subscribers: n,
      heapPerSubscriber: m.heap === null ? null : Math.round((m.heap - base.heap) / n),
      rssPerSubscriber: Math.round((m.rss - base.rss) / n),
      heapRetainedPerGoneSubscriber: after.heap === null ? null : Math.round((after.heap - base.heap) / n),
    };
  }
  /** One task, k subscribers, m events: delivered events/s. */
  async fanout(k = 200, m = 300) {
    const waitMs = 2500;
    const c0 = this.cpu();
    const { id, sock } = await this.startTask(`fan:${m}:${waitMs} ${TEXT}`);
    let frames = 0,
      first = 0,
      last = 0,
      armed = false;
    await this.open(k, this.req('subscribe', id), 1, (c) => {
      if (armed) {
        frames += c;
        last = performance.now();
        if (!first) first = last;
      }
    }).then(async (r) => {
      armed = true;
      const want = k * (m + 1);
      const t0 = performance.now();
      const cA = this.cpu();
      while (frames < want && performance.now() - t0 < 90_000) await sleep(20);
      const cB = this.cpu();
      for (const s of r.socks) s.destroy();
      this._fan = { want, cpuMs: cA ? cB.user + cB.sys - cA.user - cA.sys : null };
    });
    sock.destroy();
    const secs = (last - first) / 1000;
    return {
      subscribers: k,
      events: m,
      delivered: frames,
      expected: this._fan.want,
      seconds: +secs.toFixed(3),
      deliveredPerSec: Math.round(frames / secs),
      cpuUsPerDelivery: this._fan.cpuMs === null ? null : +((this._fan.cpuMs * 1000) / frames).toFixed(2),
    };
  }
  run(name) {
    const m = /^([a-z]+?)(\d+)?$/.exec(name);
    switch (m[1]) {
      case 'send':
        return this.send(m[2] && +m[2]); // send, send1 (one connection)
      case 'lat':
        return this.lat(m[2] && +m[2]); // steady-state latency, built-in generator
      case 'stream':
        return this.stream('stream', +(m[2] ?? 3)); // burst of N updates
      case 'tick':
        return this.stream('tick', +(m[2] ?? 100)); // one macrotask per update
      case 'get':
        return this.get();
      case 'card':
        return this.card();
      case 'list':
        return this.list(m[2] ? [+m[2]] : undefined);
      case 'idle':
        return this.idle(m[2] ? [+m[2]] : undefined);
      case 'subs':
        return this.subscribers(m[2] && +m[2]);
      case 'fanout':
        return this.fanout(m[2] && +m[2]);
      default:
        throw new Error(`unknown scenario ${name}`);
    }
  }
}
