// Floor with undici.request on a Pool.
import { Pool } from 'undici';
import { sse } from './fetch.mjs';
let n = 0;
const body = (method, text) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: n,
    method,
    params: { message: { messageId: `m-${n++}`, role: 'ROLE_USER', parts: [{ text }] } },
  });
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
export async function create(url) {
  const pool = new Pool(url, { connections: 64 });
  const call = (b) => pool.request({ path: '/a2a/jsonrpc', method: 'POST', headers, body: b });
  return {
    send: async (t) => (await (await call(body('SendMessage', t))).body.json()).result,
    stream: async function* (t) {
      yield* sse((await call(body('SendStreamingMessage', t))).body);
    },
  };
}
