import {
  respondJson,
  type RawServerRequest,
  startEventStream,
  startRawServer,
} from '../support/http/raw-server.ts';
import { hear, partsOf, type Said, stateOf, type Version } from './versions.ts';

/** An agent that speaks one version only. */
export interface Downstream {
  readonly version: Version;
  readonly url: string;
  close(): Promise<void>;
}

/** The file that the agent makes. */
export const made = { name: 'out.bin', type: 'application/octet-stream', bytes: btoa('made by the agent') };

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

interface Kept {
  id: string;
  contextId: string;
  state: string;
  said?: string;
  artifacts: Said[];
  /** Ends whoever waits for the task. */
  canceled?: () => void;
}

/** What the agent says on its way, each as it becomes part of the task. */
type Step = { state: string; said?: string } | { artifact: Said };

/** Starts an agent. It does what the first word of a message says. */
export async function startDownstream(version: Version): Promise<Downstream> {
  const tasks = new Map<string, Kept>();
  const words = new Words(version);
  const server = await startRawServer((request, response, url) => {
    const cardPath = version === '0.1' ? '/.well-known/agent.json' : '/.well-known/agent-card.json';
    if (request.method === 'GET' && request.path === cardPath) return respondJson(response, words.card(url));
    const operation = methods[version][request.json?.method];
    if (!operation || !isRightVersion(version, request))
      return respondJson(response, {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32601, message: 'Method not found' },
      });
    const { id, params } = request.json;
    const reply = (result: unknown) => respondJson(response, { jsonrpc: '2.0', id, result });
    const refuse = (code: number, message: string) =>
      respondJson(response, { jsonrpc: '2.0', id, error: { code, message } });
    const known = tasks.get(String(params.id));
    if (operation === 'get') return known ? reply(words.task(known)) : refuse(-32001, 'Task not found');
    if (operation === 'cancel') {
      if (!known?.canceled) return refuse(known ? -32002 : -32001, 'There is nothing to cancel');
      known.state = 'canceled';
      reply(words.task(known));
      return known.canceled();
    }
    const task = taskFor(version, params, tasks);
    const steps = stepsFor(version, params, task);
    if (steps === 'refused') return refuse(-32603, 'I will not do this');
    if (operation === 'stream') return follow(words, id, { task, steps }, startEventStream(response));
    const end = (): void => reply(words.sent(task));
    for (const step of steps) apply(task, step);
    return task.state === 'working' ? void (task.canceled = end) : end();
  });
  return { version, url: server.url, close: () => server.close() };
}

/** 1.0 says its version in a header; the others do not know it. */
function isRightVersion(version: Version, { headers }: RawServerRequest): boolean {
  return version !== '1.0' || headers['a2a-version'] === '1.0';
}

function taskFor(version: Version, params: any, tasks: Map<string, Kept>): Kept {
  const named: string | undefined = version === '0.1' ? params.id : params.message.taskId;
  const known = named === undefined ? undefined : tasks.get(named);
  if (known) return known;
  const contextId = (version === '0.1' ? params.sessionId : params.message.contextId) ?? crypto.randomUUID();
  const task: Kept = {
    id: version === '0.1' ? params.id : crypto.randomUUID(),
    contextId,
    state: 'submitted',
    artifacts: [],
  };
  tasks.set(task.id, task);
  return task;
}

function stepsFor(version: Version, params: any, task: Kept): Step[] | 'refused' {
  const { texts, files } = hear(version, params.message);
  const [word = ''] = texts;
  const done = (artifact: Said): Step[] => [
    { state: 'working', said: 'on it' },
    { artifact },
    { state: 'completed', said: 'done' },
  ];
  if (task.state === 'input-required') return done({ text: `you chose ${word}` });
  switch (word) {
    case 'cancel':
      return [{ state: 'working', said: 'on it' }];
    case 'ask':
      return [{ state: 'input-required', said: 'Which one?' }];
    case 'read': {
      const { name, type, bytes = '' } = files[0] ?? { name: 'nothing', type: '' };
      return done({ text: `${name} ${type} ${atob(bytes)}` });
    }
    case 'make':
      return done({ file: made });
    case 'fail':
      return [
        { state: 'working', said: 'on it' },
        { state: 'failed', said: 'it broke' },
      ];
    case 'refuse':
      return 'refused';
    default:
      return done({ text: `${word} it is` });
  }
}

function apply(task: Kept, step: Step): void {
  if ('artifact' in step) task.artifacts.push(step.artifact);
  else {
    task.state = step.state;
    task.said = step.said;
  }
}

function follow(
  words: Words,
  id: unknown,
  { task, steps }: { task: Kept; steps: readonly Step[] },
  stream: ReturnType<typeof startEventStream>,
): void {
  const say = (result: unknown) => stream.event({ jsonrpc: '2.0', id, result });
  for (const event of words.begin(task)) say(event);
  for (const step of steps) {
    apply(task, step);
    say('artifact' in step ? words.artifactEvent(task) : words.statusEvent(task));
  }
  if (task.state !== 'working') return stream.end();
  task.canceled = () => {
    delete task.said;
    say(words.statusEvent(task));
    stream.end();
  };
}

/** What an agent of one version puts on the wire. */
class Words {
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

  /** A task as the answer to a send. */
  sent(task: Kept): object {
    return this.#version === '1.0' ? { task: this.task(task) } : this.task(task);
  }

  task(task: Kept): object {
    const { id, contextId } = task;
    const artifacts = task.artifacts.map((each, i) => this.#artifact(each, i));
    const whole = { id, status: this.#status(task), artifacts };
    if (this.#version === '0.1') return { ...whole, sessionId: contextId };
    return { ...whole, contextId, ...(this.#version === '0.3' && { kind: 'task' }) };
  }

  /** How a stream begins: with the task where the version has a word for it. */
  begin(task: Kept): object[] {
    if (this.#version === '0.1') return [];
    return [this.#version === '1.0' ? { task: this.task(task) } : this.task(task)];
  }

  statusEvent(task: Kept): object {
    const status = this.#status(task);
    const final = task.state !== 'working';
    const { id: taskId, contextId } = task;
    if (this.#version === '0.1') return { id: taskId, status, final };
    return this.#version === '0.3'
      ? { kind: 'status-update', taskId, contextId, status, final }
      : { statusUpdate: { taskId, contextId, status } };
  }

  artifactEvent(task: Kept): object {
    const at = task.artifacts.length - 1;
    const artifact = this.#artifact(task.artifacts[at] ?? {}, at);
    const { id: taskId, contextId } = task;
    if (this.#version === '0.1') return { id: taskId, artifact: { ...artifact, lastChunk: true } };
    return this.#version === '0.3'
      ? { kind: 'artifact-update', taskId, contextId, artifact, lastChunk: true }
      : { artifactUpdate: { taskId, contextId, artifact, lastChunk: true } };
  }

  #status({ state, said, id: taskId, contextId }: Kept): object {
    const version = this.#version;
    const timestamp = '2025-01-01T00:00:00.000Z';
    const plain = { state: stateOf(version, state), timestamp };
    if (said === undefined) return plain;
    const parts = partsOf(version, { text: said });
    if (version === '0.1') return { ...plain, message: { role: 'agent', parts } };
    const messageId = `said-${taskId}-${++this.#messages}`;
    const message = { messageId, parts, taskId, contextId };
    return {
      ...plain,
      message:
        version === '0.3'
          ? { ...message, kind: 'message', role: 'agent' }
          : { ...message, role: 'ROLE_AGENT' },
    };
  }

  #artifact(said: Said, index: number): object {
    const plain = { name: 'result', parts: partsOf(this.#version, said) };
    return this.#version === '0.1' ? { ...plain, index } : { ...plain, artifactId: `a-${index}` };
  }
}
