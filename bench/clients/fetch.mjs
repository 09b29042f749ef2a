// Floor with global fetch: stringify, fetch, parse. SSE split by hand.
let n = 0;
const body = (method, text) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: n,
    method,
    params: { message: { messageId: `m-${n++}`, role: 'ROLE_USER', parts: [{ text }] } },
  });
const headers = { 'content-type': 'application/json', 'a2a-version': '1.0' };
export async function* sse(chunks) {
  const dec = new TextDecoder();
  let buf = '';
  for await (const ch of chunks) {
    buf += dec.decode(ch, { stream: true });
    let i;
    while ((i = buf.indexOf('\n\n')) >= 0) {
      const f = buf.slice(0, i);
      buf = buf.slice(i + 2);
      if (f.startsWith('data: ')) yield JSON.parse(f.slice(6)).result;
    }
  }
}
export async function create(url) {
  const u = url + '/a2a/jsonrpc';
  return {
    send: async (t) =>
      (await (await fetch(u, { method: 'POST', headers, body: body('SendMessage', t) })).json()).result,
    stream: async function* (t) {
      yield* sse((await fetch(u, { method: 'POST', headers, body: body('SendStreamingMessage', t) })).body);
    },
  };
}
