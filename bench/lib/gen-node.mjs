// Dependency-free HTTP/1.1 load generator on raw sockets: one request in
// flight per connection, minimal response parsing, counts SSE frames.
import net from 'node:net';
import { render } from './dialects.mjs';

const CRLF2 = Buffer.from('\r\n\r\n');
const LF2 = Buffer.from('\n\n');

/** Incremental response parser. onDone({status, bytes, frames, body}); onFrame(count). */
export class Parser {
  constructor({ keep = false, onDone, onFrame }) {
    this.keep = keep;
    this.onDone = onDone;
    this.onFrame = onFrame;
    this.reset();
  }
  reset() {
    this.state = 0;
    this.buf = null;
    this.need = 0;
    this.bytes = 0;
    this.frames = 0;
    this.parts = [];
    this.chunked = false;
    this.status = 0;
    this.lastLf = false;
    this.headers = '';
  }
  body(b) {
    if (this.keep) this.parts.push(b);
    let n = 0,
      i = 0;
    if (this.lastLf && b[0] === 10) {
      n++;
      i = 1;
    }
    while ((i = b.indexOf(LF2, i)) !== -1) {
      n++;
      i += 2;
    }
    this.lastLf = b.length > 0 && b[b.length - 1] === 10 && !(b.length > 1 && b[b.length - 2] === 10);
    if (n) {
      this.frames += n;
      this.onFrame?.(n);
    }
  }
  push(d) {
    this.bytes += d.length;
    if (this.buf) {
      d = Buffer.concat([this.buf, d]);
      this.buf = null;
    }
    let p = 0;
    for (;;) {
      if (this.state === 0) {
        const e = d.indexOf(CRLF2, p);
        if (e < 0) {
          this.buf = d.subarray(p);
          return;
        }
        const h = d.latin1Slice(p, e);
        p = e + 4;
        this.headers = h;
        this.status = +h.slice(9, 12);
        const l = h.toLowerCase();
        this.chunked = l.includes('transfer-encoding: chunked');
        const m = /content-length: (\d+)/.exec(l);
        if (this.chunked) this.state = 1;
        else {
          this.need = m ? +m[1] : 0;
          this.state = 3;
        }
      } else if (this.state === 1) {
        // chunk size line
        const e = d.indexOf('\r\n', p);
        if (e < 0) {
          this.buf = d.subarray(p);
          return;
        }
        this.need = parseInt(d.latin1Slice(p, e), 16);
        p = e + 2;
        this.state = this.need === 0 ? 4 : 2;
      } else if (this.state === 2) {
        // chunk data + CRLF
        if (d.length - p < this.need + 2) {
          this.buf = d.subarray(p);
          return;
        }
        this.body(d.subarray(p, p + this.need));
        p += this.need + 2;
        this.state = 1;
      } else if (this.state === 3) {
        // fixed length
        if (d.length - p < this.need) {
          this.buf = d.subarray(p);
          return;
        }
        if (this.need) this.body(d.subarray(p, p + this.need));
        p += this.need;
        return this.finish();
      } else {
        // trailer CRLF
        if (d.length - p < 2) {
          this.buf = d.subarray(p);
          return;
        }
        return this.finish();
      }
    }
  }
  finish() {
    const r = {
      status: this.status,
      bytes: this.bytes,
      frames: this.frames,
      headers: this.headers,
      body: this.keep ? Buffer.concat(this.parts).toString() : undefined,
    };
    this.reset();
    this.onDone(r);
  }
}

/** One checked request; resolves with {status, bytes, frames, body}. */
export function once({ host, port, req }) {
  return new Promise((resolve, reject) => {
    const s = net.connect(port, host);
    const p = new Parser({
      keep: true,
      onDone: (r) => {
        s.destroy();
        resolve(r);
      },
    });
    s.on('connect', () => s.write(render(req)));
    s.on('data', (d) => p.push(d));
    s.on('error', reject);
    s.on('close', () => reject(new Error('closed before response')));
    s.setTimeout(120_000, () => {
      s.destroy();
      reject(new Error('timeout'));
    });
  });
}

/** Closed-loop load for `seconds`, or until `count` requests complete. The first `skip` seconds
 *  (connection ramp-up, JIT) are served but not recorded. With `rate`, the connections together send
 *  at most that many requests per second, at even distances. */
export function load({ host, port, req, reqs, conns, seconds, skip = 0, count = Infinity, rate = Infinity }) {
  return new Promise((resolve) => {
    const lat = [];
    let done = 0,
      sent = 0,
      bytes = 0,
      frames = 0,
      bad = 0,
      live = 0,
      stop = false;
    const pick = reqs ? () => reqs[(Math.random() * reqs.length) | 0] : () => req;
    let t0 = performance.now();
    const socks = [];
    const end = () => {
      if (stop) return;
      stop = true;
      const secs = (performance.now() - t0) / 1000;
      clearTimeout(timer);
      for (const s of socks) s.destroy();
      lat.sort((a, b) => a - b);
      const pc = (p) => (lat.length ? +lat[Math.min(lat.length - 1, (lat.length * p) | 0)].toFixed(3) : null);
      resolve({
        gen: 'node',
        requests: done,
        seconds: secs,
        rps: done / secs,
        bytes,
        frames,
        errors: bad,
        p50: pc(0.5),
        p90: pc(0.9),
        p99: pc(0.99),
        max: pc(1),
      });
    };
    const timer = seconds ? setTimeout(end, (seconds + skip) * 1000) : null;
    if (skip)
      setTimeout(() => {
        lat.length = 0;
        done = bytes = frames = bad = 0;
        t0 = performance.now();
      }, skip * 1000);
    for (let i = 0; i < conns; i++) {
      const s = net.connect(port, host);
      socks.push(s);
      s.setNoDelay(true);
      let at = 0;
      let due = t0 + (i / rate) * 1000;
      live++;
      const fire = () => {
        if (stop || sent >= count) return;
        const wait = due - performance.now();
        if (wait > 0) {
          setTimeout(fire, wait);
          return;
        }
        due += (conns / rate) * 1000;
        sent++;
        at = performance.now();
        s.write(render(pick()));
      };
      const p = new Parser({
        onDone: (r) => {
          lat.push(performance.now() - at);
          done++;
          bytes += r.bytes;
          frames += r.frames;
          if (r.status < 200 || r.status > 299) bad++;
          if (done >= count) return end();
          fire();
        },
      });
      s.on('connect', fire);
      s.on('data', (d) => p.push(d));
      s.on('error', () => {
        bad++;
      });
      s.on('close', () => {
        if (--live === 0) end();
      });
    }
  });
}
