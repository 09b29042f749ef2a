// Floor with node:http and a keep-alive agent.
import http from 'node:http';
import { sse } from './fetch.mjs';
let n = 0;
const body = (method, text) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: n,
    method,
    params: { message: { messageId: `m-${n++}`, role: 'ROLE_USER', parts: [{ text }] } },
  });
export async function create(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  const u = new URL(url);
  const call = (b) =>
    new Promise((res, rej) => {
      const r = http.request(
        {
          agent,
          host: u.hostname,
          port: u.port,
          path: '/a2a/jsonrpc',
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'a2a-version': '1.0',
            'content-length': Buffer.byteLength(b),
          },
        },
        res,
      );
      r.on('error', rej);
      r.end(b);
    });
  return {
    send: async (t) => {
      const r = await call(body('SendMessage', t));
      const p = [];
      r.on('data', (d) => p.push(d));
      return new Promise((ok) =>
        r.on('end', () => ok(JSON.parse(p.length === 1 ? p[0] : Buffer.concat(p)).result)),
      );
    },
    stream: async function* (t) {
      yield* sse(await call(body('SendStreamingMessage', t)));
    },
  };
}
