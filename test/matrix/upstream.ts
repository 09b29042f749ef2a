import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import { buildParts, type Content, formatState, readContent, type Version } from './versions.ts';

/** An agent that supports one version only. */
export interface Upstream {
  readonly version: Version;
  readonly url: string;
  close(): Promise<void>;
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

/** Starts an agent. The first word of a message selects its behavior. */
export async function startUpstream(version: Version): Promise<Upstream> {
  const tasks = new Map<string, UpstreamTask>();
  const wire = new WireWriter(version);
  const server = await startRawServer((request, response, url) => {
    const cardPath = version === '0.1' ? '/.well-known/agent.json' : '/.well-known/agent-card.json';
    if (request.method === 'GET' && request.path === cardPath) return respondJson(response, wire.card(url));
    const operation = methods[version][request.json?.method];
    if (!operation || !isRightVersion(version, request))
      return respondJson(response, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32601, message: 'Method not found' },
      });
    const { id, params } = request.json;
    const respond = (result: unknown) => respondJson(response, { jsonrpc: '2.0', id, result });
    const respondError = (code: number, message: string) =>
      respondJson(response, { jsonrpc: '2.0', id, error: { code, message } });
    const knownTask = tasks.get(String(params.id));
    if (operation === 'get')
      return knownTask ? respond(wire.task(knownTask)) : respondError(-32001, 'Task not found');
    if (operation === 'cancel') {
      if (!knownTask?.onCancel) return respondError(knownTask ? -32002 : -32001, 'Nothing to cancel');
      knownTask.state = 'canceled';
      respond(wire.task(knownTask));
      return knownTask.onCancel();
    }
    const task = findOrCreateTask(version, params, tasks);
    const steps = planSteps(version, params, task);
    if (steps === 'refused') return respondError(-32603, 'I will not do this');
    if (operation === 'stream') return streamSteps(wire, id, { task, steps }, startEventStream(response));
    const end = (): void => respond(wire.sendResult(task));
    for (const step of steps) apply(task, step);
    return task.state === 'working' ? void (task.onCancel = end) : end();
  });
  return { version, url: server.url, close: () => server.close() };
}

/** Only 1.0 has a version header. */
function isRightVersion(version: Version, { headers }: RawServerRequest): boolean {
  return version !== '1.0' || headers['a2a-version'] === '1.0';
}

function findOrCreateTask(version: Version, params: any, tasks: Map<string, UpstreamTask>): UpstreamTask {
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

function planSteps(version: Version, params: any, task: UpstreamTask): Step[] | 'refused' {
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
  id: unknown,
  { task, steps }: { task: UpstreamTask; steps: readonly Step[] },
  stream: ReturnType<typeof startEventStream>,
): void {
  const send = (result: unknown) => stream.event({ jsonrpc: '2.0', id, result });
  for (const event of wire.begin(task)) send(event);
  for (const step of steps) {
    apply(task, step);
    send('artifact' in step ? wire.artifactEvent(task) : wire.statusEvent(task));
  }
  if (task.state !== 'working') return stream.end();
  task.onCancel = () => {
    delete task.message;
    send(wire.statusEvent(task));
    stream.end();
  };
}

/** Writes tasks and events in the wire format of one version. */
class WireWriter {
  readonly #version: Version;
  #messages = 0;

  constructor(version: Version) {
    this.#version = version;
  }

  card(url: string): object {
    const version = this.#version;
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
      ? { ...plain, ...modes, url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' }
      : {
          ...plain,
          ...modes,
          supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
        };
  }

  /** Result of a send. */
  sendResult(task: UpstreamTask): object {
    return this.#version === '1.0' ? { task: this.task(task) } : this.task(task);
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
    return [this.#version === '1.0' ? { task: this.task(task) } : this.task(task)];
  }

  statusEvent(task: UpstreamTask): object {
    const status = this.#status(task);
    const final = task.state !== 'working';
    const { id: taskId, contextId } = task;
    if (this.#version === '0.1') return { id: taskId, status, final };
    return this.#version === '0.3'
      ? { kind: 'status-update', taskId, contextId, status, final }
      : { statusUpdate: { taskId, contextId, status } };
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
    const message = { messageId, parts, taskId, contextId };
    return {
      ...plain,
      message:
        version === '0.3'
          ? { ...message, kind: 'message', role: 'agent' }
          : { ...message, role: 'ROLE_AGENT' },
    };
  }

  #artifact(content: Content, index: number): object {
    const plain = { name: 'result', parts: buildParts(this.#version, content) };
    return this.#version === '0.1' ? { ...plain, index } : { ...plain, artifactId: `a-${index}` };
  }
}
