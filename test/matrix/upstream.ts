import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import {
  buildParts,
  type Content,
  formatState,
  readContent,
  type Version,
  type WireVersion,
} from './versions.ts';

/** An agent that supports one version over one transport only. */
export interface Upstream {
  readonly url: string;
  close(): Promise<void>;
}

/** Receives the response of an agent. */
export interface UpstreamReply {
  result(result: object): void;
  error(code: -32001 | -32002 | -32603, message: string): void;
  stream(): { event(event: object): void; end(): void };
}

/** The file that the agent produces. */
export const producedFile = {
  name: 'out.bin',
  type: 'application/octet-stream',
  bytes: btoa('made by the agent'),
};

const methods: {
  readonly [V in Version]: { readonly [method: string]: 'send' | 'stream' | 'cancel' | 'get' };
} = {
  '0.1': {
    'tasks/send': 'send',
    'tasks/sendSubscribe': 'stream',
    'tasks/cancel': 'cancel',
    'tasks/get': 'get',
  },
  '0.3': { 'message/send': 'send', 'message/stream': 'stream', 'tasks/cancel': 'cancel', 'tasks/get': 'get' },
  '1.0': { SendMessage: 'send', SendStreamingMessage: 'stream', CancelTask: 'cancel', GetTask: 'get' },
};

interface UpstreamTask {
  id: string;
  contextId: string;
  state: string;
  message?: string;
  artifacts: Content[];
  /** Ends the pending response when the task is canceled. */
  onCancel?: () => void;
}

/** One update of the task. */
type Step = { state: string; message?: string } | { artifact: Content };

/** Starts an agent that speaks JSON-RPC. The first word of a message selects its behavior. */
export async function startUpstream(version: Version): Promise<Upstream> {
  const agent = new UpstreamAgent(version);
  const server = await startRawServer((request, response, url) => {
    const cardPath = version === '0.1' ? '/.well-known/agent.json' : '/.well-known/agent-card.json';
    if (request.method === 'GET' && request.path === cardPath)
      return respondJson(response, upstreamCard(version, { url, transport: 'JSONRPC' }));
    const operation = methods[version][request.json?.method];
    if (!operation || !isRightVersion(version, request))
      return respondJson(response, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32601, message: 'Method not found' },
      });
    const { id, params } = request.json;
    return agent.handle(operation, params, {
      result: (result) => respondJson(response, { jsonrpc: '2.0', id, result }),
      error: (code, message) => respondJson(response, { jsonrpc: '2.0', id, error: { code, message } }),
      stream: () => {
        const events = startEventStream(response);
        return {
          event: (result) => events.event({ jsonrpc: '2.0', id, result }),
          end: () => events.end(),
        };
      },
    });
  });
  return { url: server.url, close: () => server.close() };
}

/** The agent behind all transports. */
export class UpstreamAgent {
  readonly #version: WireVersion;
  readonly #wire: WireWriter;
  readonly #tasks = new Map<string, UpstreamTask>();

  constructor(version: WireVersion) {
    this.#version = version;
    this.#wire = new WireWriter(version);
  }

  handle(operation: 'send' | 'stream' | 'cancel' | 'get', params: any, reply: UpstreamReply): void {
    const wire = this.#wire;
    const knownTask = this.#tasks.get(String(params.id));
    if (operation === 'get')
      return knownTask ? reply.result(wire.task(knownTask)) : reply.error(-32001, 'Task not found');
    if (operation === 'cancel') {
      if (!knownTask?.onCancel) return reply.error(knownTask ? -32002 : -32001, 'Nothing to cancel');
      knownTask.state = 'canceled';
      // Either the response or the last event may end the request of a client, so that both have the same status.
      delete knownTask.message;
      reply.result(wire.task(knownTask));
      return knownTask.onCancel();
    }
    const task = findOrCreateTask(this.#version, params, this.#tasks);
    const steps = planSteps(this.#version, params, task);
    if (steps === 'refused') return reply.error(-32603, 'I will not do this');
    if (operation === 'stream') return streamSteps(wire, { task, steps }, reply.stream());
    const end = (): void => reply.result(wire.sendResult(task));
    for (const step of steps) apply(task, step);
    return task.state === 'working' ? void (task.onCancel = end) : end();
  }
}

/** Only 1.0 has a version header. */
function isRightVersion(version: Version, { headers }: RawServerRequest): boolean {
  return version !== '1.0' || headers['a2a-version'] === '1.0';
}

function findOrCreateTask(version: WireVersion, params: any, tasks: Map<string, UpstreamTask>): UpstreamTask {
  const requestedId: string | undefined = version === '0.1' ? params.id : params.message.taskId;
  const knownTask = requestedId === undefined ? undefined : tasks.get(requestedId);
  if (knownTask) return knownTask;
  const contextId = (version === '0.1' ? params.sessionId : params.message.contextId) ?? crypto.randomUUID();
  const task: UpstreamTask = {
    id: version === '0.1' ? params.id : crypto.randomUUID(),
    contextId,
    state: 'submitted',
    artifacts: [],
  };
  tasks.set(task.id, task);
  return task;
}

function planSteps(version: WireVersion, params: any, task: UpstreamTask): Step[] | 'refused' {
  const { texts, files } = readContent(version, params.message);
  const [command = ''] = texts;
  const done = (artifact: Content): Step[] => [
    { state: 'working', message: 'on it' },
    { artifact },
    { state: 'completed', message: 'done' },
  ];
  if (task.state === 'input-required') return done({ text: `you chose ${command}` });
  switch (command) {
    case 'cancel':
      return [{ state: 'working', message: 'on it' }];
    case 'ask':
      return [{ state: 'input-required', message: 'Which one?' }];
    case 'read': {
      const { name, type, bytes = '' } = files[0] ?? { name: 'nothing', type: '' };
      return done({ text: `${name} ${type} ${atob(bytes)}` });
    }
    case 'make':
      return done({ file: producedFile });
    case 'fail':
      return [
        { state: 'working', message: 'on it' },
        { state: 'failed', message: 'it broke' },
      ];
    case 'refuse':
      return 'refused';
    default:
      return done({ text: `${command} it is` });
  }
}

function apply(task: UpstreamTask, step: Step): void {
  if ('artifact' in step) task.artifacts.push(step.artifact);
  else {
    task.state = step.state;
    task.message = step.message;
  }
}

function streamSteps(
  wire: WireWriter,
  { task, steps }: { task: UpstreamTask; steps: readonly Step[] },
  stream: ReturnType<UpstreamReply['stream']>,
): void {
  const send = (event: object) => stream.event(event);
  for (const event of wire.begin(task)) send(event);
  for (const step of steps) {
    apply(task, step);
    send('artifact' in step ? wire.artifactEvent(task) : wire.statusEvent(task));
  }
  if (task.state !== 'working') return stream.end();
  task.onCancel = () => {
    send(wire.statusEvent(task));
    stream.end();
  };
}

/** Writes the card of an agent with one interface. */
export function upstreamCard(
  version: Version,
  { url, transport }: { url: string; transport: string },
): object {
  const plain = {
    name: `Agent of ${version}`,
    description: 'Does what the word says',
    version: '1.0.0',
    capabilities: { streaming: true },
    skills: [{ id: 's', name: 'Skill', description: 'Does it', tags: ['t'] }],
  };
  if (version === '0.1')
    return { ...plain, url, defaultInputModes: ['text', 'file'], defaultOutputModes: ['text', 'file'] };
  const modes = { defaultInputModes: ['*/*'], defaultOutputModes: ['*/*'] };
  return version === '0.3'
    ? { ...plain, ...modes, url, preferredTransport: transport, protocolVersion: '0.3.0' }
    : {
        ...plain,
        ...modes,
        supportedInterfaces: [{ url, protocolBinding: transport, protocolVersion: '1.0' }],
      };
}

/** Writes tasks and events in the wire format of one version. */
class WireWriter {
  readonly #version: WireVersion;
  /** True for the formats of protocol buffers. */
  readonly #isProto: boolean;
  #messages = 0;

  constructor(version: WireVersion) {
    this.#version = version;
    this.#isProto = version === '1.0' || version === '0.3 REST';
  }

  /** Result of a send. */
  sendResult(task: UpstreamTask): object {
    return this.#isProto ? { task: this.task(task) } : this.task(task);
  }

  task(task: UpstreamTask): object {
    const { id, contextId } = task;
    const artifacts = task.artifacts.map((each, i) => this.#artifact(each, i));
    const fields = { id, status: this.#status(task), artifacts };
    if (this.#version === '0.1') return { ...fields, sessionId: contextId };
    return { ...fields, contextId, ...(this.#version === '0.3' && { kind: 'task' }) };
  }

  /** First events of a stream: the task, if the version supports it. */
  begin(task: UpstreamTask): object[] {
    if (this.#version === '0.1') return [];
    return [this.#isProto ? { task: this.task(task) } : this.task(task)];
  }

  statusEvent(task: UpstreamTask): object {
    const status = this.#status(task);
    const final = task.state !== 'working';
    const { id: taskId, contextId } = task;
    if (this.#version === '0.1') return { id: taskId, status, final };
    if (this.#version === '0.3') return { kind: 'status-update', taskId, contextId, status, final };
    return { statusUpdate: { taskId, contextId, status, ...(this.#version !== '1.0' && { final }) } };
  }

  artifactEvent(task: UpstreamTask): object {
    const at = task.artifacts.length - 1;
    const artifact = this.#artifact(task.artifacts[at] ?? {}, at);
    const { id: taskId, contextId } = task;
    if (this.#version === '0.1') return { id: taskId, artifact: { ...artifact, lastChunk: true } };
    return this.#version === '0.3'
      ? { kind: 'artifact-update', taskId, contextId, artifact, lastChunk: true }
      : { artifactUpdate: { taskId, contextId, artifact, lastChunk: true } };
  }

  #status({ state, message: text, id: taskId, contextId }: UpstreamTask): object {
    const version = this.#version;
    const timestamp = '2025-01-01T00:00:00.000Z';
    const plain = { state: formatState(version, state), timestamp };
    if (text === undefined) return plain;
    const parts = buildParts(version, { text });
    if (version === '0.1') return { ...plain, message: { role: 'agent', parts } };
    const messageId = `message-${taskId}-${++this.#messages}`;
    const message = { messageId, taskId, contextId };
    switch (version) {
      case '0.3':
        return { ...plain, message: { ...message, parts, kind: 'message', role: 'agent' } };
      case '0.3 REST':
        return { ...plain, message: { ...message, content: parts, role: 'ROLE_AGENT' } };
      default:
        return { ...plain, message: { ...message, parts, role: 'ROLE_AGENT' } };
    }
  }

  #artifact(content: Content, index: number): object {
    const plain = { name: 'result', parts: buildParts(this.#version, content) };
    return this.#version === '0.1' ? { ...plain, index } : { ...plain, artifactId: `a-${index}` };
  }
}
