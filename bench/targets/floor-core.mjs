// Minimal A2A echo agent: no validation, no copying, one Map.
// Responds in the dialect of the request. Transport-independent.
import { randomUUID } from 'node:crypto';

const tasks = new Map();
const order = []; // finished tasks, oldest first: newest page is a slice of the tail
const live = new Map(); // id -> Set of subscriber sinks

const S1 = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  completed: 'TASK_STATE_COMPLETED',
};
const now = () => new Date().toISOString();
const CMD = /^(stream|tick|hang|fan)(?::(\d+))?(?::(\d+))?/;
export const plan = (text) => {
  const m = CMD.exec(text);
  return m ? [m[1], +(m[2] ?? 3), +(m[3] ?? 0)] : ['stream', 3, 0];
};

function open(message, v03) {
  const id = randomUUID(),
    contextId = message.contextId ?? randomUUID();
  message.taskId = id;
  message.contextId = contextId;
  const state = v03 ? 'submitted' : S1.submitted;
  const task = v03
    ? { kind: 'task', id, contextId, status: { state, timestamp: now() }, artifacts: [], history: [message] }
    : { id, contextId, status: { state, timestamp: now() }, artifacts: [], history: [message] };
  tasks.set(id, task);
  return task;
}
function status(task, name, v03) {
  task.status = { state: v03 ? name : S1[name], timestamp: now() };
  if (name === 'completed') order.push(task);
  return v03
    ? {
        kind: 'status-update',
        taskId: task.id,
        contextId: task.contextId,
        status: task.status,
        final: name === 'completed',
      }
    : { statusUpdate: { taskId: task.id, contextId: task.contextId, status: task.status } };
}
function chunk(task, text, first, last, v03) {
  const part = v03 ? { kind: 'text', text } : { text, mediaType: 'text/plain' };
  let a;
  if (first) task.artifacts.push((a = { artifactId: randomUUID(), name: 'echo', parts: [part] }));
  else task.artifacts[0].parts.push(part);
  const art = first
    ? { artifactId: a.artifactId, name: 'echo', parts: [part] }
    : { artifactId: task.artifacts[0].artifactId, name: 'echo', parts: [part] };
  return v03
    ? {
        kind: 'artifact-update',
        taskId: task.id,
        contextId: task.contextId,
        artifact: art,
        append: !first,
        lastChunk: last,
      }
    : {
        artifactUpdate: {
          taskId: task.id,
          contextId: task.contextId,
          artifact: art,
          append: !first,
          lastChunk: last,
        },
      };
}
const textOf = (m) => m.parts[0].text;

/** Blocking send: the finished task. */
export function send(message, v03) {
  const text = textOf(message),
    [, n] = plan(text);
  const t = open(message, v03);
  status(t, 'working', v03);
  for (let i = 0; i < n - 2; i++) chunk(t, text, i === 0, i === n - 3, v03);
  status(t, 'completed', v03);
  return v03 ? t : { task: t };
}
/** Streaming send: emit(obj) per event, end() when over. Returns the hang-up function. */
export function stream(message, v03, emit, end) {
  const t = open(message, v03),
    self = [emit, end],
    subs = new Set([self]);
  live.set(t.id, subs);
  run(t, textOf(message), v03, subs);
  return () => subs.delete(self);
}
async function run(t, text, v03, subs) {
  const [cmd, n, wait] = plan(text);
  const emit = (e) => {
    for (const s of subs) s[0](e);
  };
  emit(v03 ? t : { task: t });
  emit(status(t, 'working', v03));
  if (cmd === 'hang') return;
  const total = cmd === 'fan' ? n : n - 2;
  if (wait) await new Promise((r) => setTimeout(r, wait));
  for (let i = 0; i < total; i++) {
    if (cmd !== 'stream') await new Promise(setImmediate);
    emit(chunk(t, text, i === 0, i === total - 1, v03));
  }
  if (cmd !== 'stream') await new Promise(setImmediate);
  emit(status(t, 'completed', v03));
  live.delete(t.id);
  for (const s of subs) s[1]();
}
export function subscribe(id, v03, emit, end) {
  const t = tasks.get(id);
  emit(v03 ? t : { task: t });
  const subs = live.get(id);
  if (!subs) {
    end();
    return () => {};
  }
  const s = [emit, end];
  subs.add(s);
  return () => subs.delete(s);
}
export const get = (id) => tasks.get(id);
export function list(size, token) {
  const end = token ? +token : order.length,
    from = Math.max(0, end - size),
    page = [];
  for (let i = end - 1; i >= from; i--) {
    const { artifacts, ...t } = order[i];
    page.push(t);
  }
  return { tasks: page, nextPageToken: from ? String(from) : '', pageSize: size, totalSize: tasks.size };
}
export const card = (port) => ({
  name: 'Echo',
  description: 'Echoes text',
  version: '1.0.0',
  provider: { organization: 'bench', url: 'http://127.0.0.1' },
  supportedInterfaces: [
    ['JSONRPC', '/a2a/jsonrpc'],
    ['HTTP+JSON', '/a2a/rest'],
  ].map(([protocolBinding, p]) => ({
    url: `http://127.0.0.1:${port}${p}`,
    protocolBinding,
    tenant: '',
    protocolVersion: '1.0',
  })),
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [
    {
      id: 'echo',
      name: 'Echo',
      description: 'Echo the text',
      tags: ['echo'],
      examples: ['hi'],
      inputModes: ['text/plain'],
      outputModes: ['text/plain'],
      securityRequirements: [],
    },
  ],
  documentationUrl: '',
  signatures: [],
});
/** One JSON-RPC call: returns {json} or {start(emit,end)}. */
export function rpc(q, v03) {
  const wrap = (result) => ({ jsonrpc: '2.0', id: q.id, result });
  const p = q.params;
  switch (q.method) {
    case 'SendMessage':
    case 'message/send':
      return { json: wrap(send(p.message, v03)) };
    case 'SendStreamingMessage':
    case 'message/stream':
      return { start: (emit, end) => stream(p.message, v03, (e) => emit(wrap(e)), end) };
    case 'SubscribeToTask':
    case 'tasks/resubscribe':
      return { start: (emit, end) => subscribe(p.id, v03, (e) => emit(wrap(e)), end) };
    case 'GetTask':
    case 'tasks/get':
      return { json: wrap(get(p.id)) };
    case 'ListTasks':
      return { json: wrap(list(p.pageSize ?? 50, p.pageToken)) };
    default:
      return { json: { jsonrpc: '2.0', id: q.id, error: { code: -32601, message: 'Method not found' } } };
  }
}
/** One REST call. path starts after the mount point. */
export function rest(method, path, body, query) {
  if (path === '/message:send') return { json: send(body.message, false) };
  if (path === '/message:stream') return { start: (emit, end) => stream(body.message, false, emit, end) };
  if (path === '/tasks') return { json: list(+(query.get('pageSize') ?? 50), query.get('pageToken')) };
  if (path.endsWith(':subscribe'))
    return { start: (emit, end) => subscribe(path.slice(7, -10), false, emit, end) };
  return { json: get(path.slice(7)) };
}
