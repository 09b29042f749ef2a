import { connect } from '../../../src/client/connect.ts';
import type { ProtocolVersion, Transport } from '../../../src/protocol/card.ts';
import { A2AError } from '../../../src/protocol/errors.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';
import { digestOf } from '../history/log-view.ts';
import {
  type ChaosClient,
  type ChaosMessage,
  ChaosRequestError,
  type SeenEvent,
  type SeenTask,
} from './chaos-client.ts';
import { type ChooseReplica, requestTimeout } from './raw-client.ts';

function toSeenTask(task: Task): SeenTask {
  const text = (task.artifacts ?? []).map(({ parts }) => textOf(parts)).join('');
  return { id: task.id, state: task.status.state, text };
}

function toSeenEvent(event: StreamEvent): SeenEvent | undefined {
  const { sequence } = event;
  if (sequence === undefined || event.kind === 'message') return undefined;
  if (event.kind === 'task') {
    const { id, state, text } = toSeenTask(event.task);
    return { taskId: id, sequence, state, digest: digestOf({ kind: 'task', state, text }) };
  }
  const { taskId } = event;
  if (event.kind === 'artifact') {
    const text = textOf(event.artifact.parts);
    return { taskId, sequence, state: undefined, digest: digestOf({ kind: 'artifact', text }) };
  }
  const { state, message } = event.status;
  const text = textOf(message?.parts ?? []);
  return { taskId, sequence, state, digest: digestOf({ kind: 'status', state, text }) };
}

function toRequestError(thrown: unknown): ChaosRequestError {
  const { reason, message } = A2AError.from(thrown);
  return new ChaosRequestError(`${reason}: ${message}`, {
    isNotFound: reason === 'TASK_NOT_FOUND',
    isTemporary: ['UNAVAILABLE', 'TIMEOUT', 'INTERNAL_ERROR', 'RESOURCE_EXHAUSTED'].includes(reason),
  });
}

function toRequest({ text, messageId, taskId, returnImmediately, webhook }: ChaosMessage) {
  return {
    message: { messageId, role: 'user' as const, parts: [{ text }], ...(taskId !== undefined && { taskId }) },
    // Repetitions of this test are those of one request.
    idempotencyKey: messageId,
    configuration: {
      ...(returnImmediately && { returnImmediately }),
      ...(webhook !== undefined && { pushConfig: { id: 'hook', url: webhook } }),
    },
  };
}

/** Returns the URL of an agent, or its card in 0.2, which cards of later versions do not list. */
function targetOf(version: ProtocolVersion, url: string): string | object {
  if (version !== '0.2') return url;
  const modes = { defaultInputModes: ['text'], defaultOutputModes: ['text'] };
  const capabilities = { streaming: true, pushNotifications: true };
  return {
    name: 'Chaos',
    description: '',
    protocolVersion: '0.2.6',
    version: '1',
    url,
    skills: [],
    capabilities,
    ...modes,
  };
}

/** Creates a client of the product, whose requests and resumed streams reach any replica. */
export function productClient(
  version: ProtocolVersion,
  transport: Transport,
  choose: ChooseReplica,
): ChaosClient {
  const agent = connect(targetOf(version, choose()), {
    versions: [version],
    transports: [transport],
    timeouts: { connect: 2_000, read: requestTimeout, send: requestTimeout, idle: requestTimeout },
    // All replicas have the same paths.
    fetch: (input, init) => {
      const { pathname, search } = new URL(input);
      return fetch(`${choose()}${pathname}${search}`, init as RequestInit);
    },
  });

  async function call(work: () => Promise<Task>): Promise<SeenTask> {
    try {
      return toSeenTask(await work());
    } catch (error) {
      throw toRequestError(error);
    }
  }

  async function* follow(events: AsyncIterable<StreamEvent>): AsyncGenerator<SeenEvent> {
    try {
      for await (const event of events) {
        const seen = toSeenEvent(event);
        if (seen) yield seen;
      }
    } catch (error) {
      throw toRequestError(error);
    }
  }

  return {
    name: `client ${version}/${transport}`,
    version,
    send: (message) =>
      call(async () => {
        const result = await agent.send(toRequest(message));
        if (isTask(result)) return result;
        throw new Error('expected a task');
      }),
    stream: (message) => follow(agent.stream(toRequest(message))),
    get: (id) => call(() => agent.getTask({ id })),
    cancel: (id) => call(() => agent.cancelTask({ id })),
    subscribe: (id, after) => follow(agent.subscribe({ id, afterSequence: after })),
    close: () => agent.close(),
  };
}
