// What each dialect puts on the wire. Every function returns
// { method, path, headers, pre, post }; the body is pre + <8-digit id> + post,
// so each request carries a fresh messageId at constant length.
const V1 = { 'A2A-Version': '1.0' };
const JSON_CT = { 'Content-Type': 'application/json' };
const SSE = { Accept: 'text/event-stream' };

const q = (v) => JSON.stringify(v);
const MARK = '@@ID@@';
function split(body) {
  const s = JSON.stringify(body);
  const at = s.indexOf(MARK);
  return at < 0 ? { pre: s, post: null } : { pre: s.slice(0, at), post: s.slice(at + MARK.length) };
}
const msg1 = (text) => ({ messageId: `m-${MARK}`, role: 'ROLE_USER', parts: [{ text }] });
const msg03 = (text) => ({
  kind: 'message',
  messageId: `m-${MARK}`,
  role: 'user',
  parts: [{ kind: 'text', text }],
});
// 0.1: the client creates the task id.
const msg01 = (text) => ({
  id: `t-${MARK}`,
  sessionId: 'bench',
  message: { role: 'user', parts: [{ type: 'text', text }] },
});
const join = (base, p) => base.replace(/\/$/, '') + p;

function rpc(base, method, params, headers) {
  return {
    method: 'POST',
    path: base,
    headers: { ...JSON_CT, ...headers },
    ...split({ jsonrpc: '2.0', id: 1, method, params }),
  };
}
const get = (path, headers) => ({ method: 'GET', path, headers, pre: null, post: null });

export const dialects = {
  'jsonrpc-1.0': {
    send: (b, t) => rpc(b, 'SendMessage', { message: msg1(t) }, V1),
    stream: (b, t) => rpc(b, 'SendStreamingMessage', { message: msg1(t) }, { ...V1, ...SSE }),
    get: (b, id) => rpc(b, 'GetTask', { id }, V1),
    list: (b, size, token) => rpc(b, 'ListTasks', { pageSize: size, ...(token && { pageToken: token }) }, V1),
    subscribe: (b, id) => rpc(b, 'SubscribeToTask', { id }, { ...V1, ...SSE }),
    cancel: (b, id) => rpc(b, 'CancelTask', { id }, V1),
    card: (p) => get(p, V1),
    unwrap: (j) => {
      if (j.error) throw new Error(q(j.error));
      return j.result;
    },
    task: (r) => r.task ?? r,
    state: (s) => String(s).replace('TASK_STATE_', '').toLowerCase(),
  },
  'jsonrpc-0.3': {
    send: (b, t) => rpc(b, 'message/send', { message: msg03(t), configuration: { blocking: true } }, {}),
    stream: (b, t) => rpc(b, 'message/stream', { message: msg03(t) }, SSE),
    get: (b, id) => rpc(b, 'tasks/get', { id }, {}),
    list: null, // JSON-RPC 0.3 has no list method
    subscribe: (b, id) => rpc(b, 'tasks/resubscribe', { id }, SSE),
    cancel: (b, id) => rpc(b, 'tasks/cancel', { id }, {}),
    card: (p) => get(p, {}),
    unwrap: (j) => {
      if (j.error) throw new Error(q(j.error));
      return j.result;
    },
    task: (r) => r,
    state: (s) => String(s),
  },
  'jsonrpc-0.1': {
    send: (b, t) => rpc(b, 'tasks/send', msg01(t), {}),
    stream: (b, t) => rpc(b, 'tasks/sendSubscribe', msg01(t), SSE),
    get: (b, id) => rpc(b, 'tasks/get', { id }, {}),
    list: null, // 0.1 has no list method
    subscribe: (b, id) => rpc(b, 'tasks/resubscribe', { id }, SSE),
    cancel: (b, id) => rpc(b, 'tasks/cancel', { id }, {}),
    card: (p) => get(p, {}),
    unwrap: (j) => {
      if (j.error) throw new Error(q(j.error));
      return j.result;
    },
    task: (r) => r,
    state: (s) => String(s),
  },
  'rest-1.0': {
    send: (b, t) => ({
      method: 'POST',
      path: join(b, '/message:send'),
      headers: { ...JSON_CT, ...V1 },
      ...split({ message: msg1(t) }),
    }),
    stream: (b, t) => ({
      method: 'POST',
      path: join(b, '/message:stream'),
      headers: { ...JSON_CT, ...V1, ...SSE },
      ...split({ message: msg1(t) }),
    }),
    get: (b, id) => get(join(b, `/tasks/${id}`), V1),
    list: (b, size, token) =>
      get(join(b, `/tasks?pageSize=${size}${token ? `&pageToken=${encodeURIComponent(token)}` : ''}`), V1),
    subscribe: (b, id) => get(join(b, `/tasks/${id}:subscribe`), { ...V1, ...SSE }),
    cancel: (b, id) => ({
      method: 'POST',
      path: join(b, `/tasks/${id}:cancel`),
      headers: { ...JSON_CT, ...V1 },
      pre: '{}',
      post: null,
    }),
    card: (p) => get(p, V1),
    unwrap: (j) => {
      if (j.error) throw new Error(q(j.error));
      return j;
    },
    task: (r) => r.task ?? r,
    state: (s) => String(s).replace('TASK_STATE_', '').toLowerCase(),
  },
};

/** Serialise to raw HTTP/1.1: { head, pre, post } as strings; body = pre + id + post. */
export function raw(req, host) {
  const len =
    req.pre === null
      ? 0
      : Buffer.byteLength(req.pre) + (req.post === null ? 0 : 8 + Buffer.byteLength(req.post));
  let head = `${req.method} ${req.path} HTTP/1.1\r\nHost: ${host}\r\n`;
  for (const [k, v] of Object.entries(req.headers)) head += `${k}: ${v}\r\n`;
  if (req.pre !== null) head += `Content-Length: ${len}\r\n`;
  return { head: head + '\r\n', pre: req.pre ?? '', post: req.post };
}
// Apart from the ids of wrk, which are below 99 million: a repeated messageId is answered with the first task.
let seq = 99_000_000;
export const nextId = () => String(seq++);
export const render = (r) => (r.post === null ? r.head + r.pre : r.head + r.pre + nextId() + r.post);
