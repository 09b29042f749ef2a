// Preload into any Node server to expose memory after a forced GC:
//   PROBE_PORT=4999 node --expose-gc --import ./probe.mjs server.mjs
// GET / on that port -> process.memoryUsage(). Costs nothing while idle.
import http from 'node:http';
const port = Number(process.env.PROBE_PORT);
if (port) {
  http
    .createServer((_q, r) => {
      for (let i = 0; i < 4; i++) globalThis.gc?.();
      const m = process.memoryUsage();
      r.setHeader('content-type', 'application/json');
      r.end(JSON.stringify({ pid: process.pid, gc: !!globalThis.gc, ...m }));
    })
    .listen(port, '127.0.0.1')
    .unref();
}
