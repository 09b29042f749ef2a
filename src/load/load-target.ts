import { connect, type ConnectionInfo, type RemoteAgent } from '../client/connect.ts';
import type { ConnectOptions } from '../client/connect-options.ts';
import { createEndpointCache } from '../client/discovery/endpoint-cache.ts';
import { isLoopbackHost } from '../primitives/loopback.ts';
import { A2AError } from '../protocol/errors.ts';
import type { StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import { textOf } from '../protocol/part.ts';
import { isTask, type Task, type TaskStatus } from '../protocol/task.ts';
import type { LoadFailure } from './load-figures.ts';
import type { LoadOperation } from './load-plan.ts';
import type { PerformRequest } from './run-load.ts';

/** Options of {@link openLoadTarget}. */
export interface LoadTargetOptions {
  readonly operation: LoadOperation;
  /** Text of messages. @defaultValue `hello` */
  readonly text?: string | undefined;
  /** Task that `get` reads. @defaultValue a new task */
  readonly taskId?: string | undefined;
  /** Allows agents on other hosts. @defaultValue false */
  readonly allowRemote?: boolean;
  /** Maximum number of open requests. */
  readonly connections: number;
  readonly client?: Pick<ConnectOptions, 'auth' | 'headers' | 'tls' | 'transports' | 'versions'>;
  readonly signal?: AbortSignal | undefined;
  /** Called with the ID of each task that the run creates. */
  readonly onTask?: (id: string) => void;
}

/** An agent that requests of a load run are sent to. */
export interface LoadTarget {
  /** Version, transport and URL of the requests. */
  readonly description: ConnectionInfo;
  readonly perform: PerformRequest;
  close(): Promise<void>;
}

/** Product in the `User-Agent` header. Traffic records name the client after it. */
const product = 'dragoman-load';

/** @throws {@link A2AError} `INVALID_PARAMS` if a URL is not on this machine */
export function checkLoopbackTarget(url: string): void {
  const { hostname } = new URL(url);
  if (isLoopbackHost(hostname)) return;
  throw new A2AError('INVALID_PARAMS', `${hostname} is not on this machine`, {
    hint: 'Load can stop an agent from working for others, and may be taken for an attack. Use a loopback address, such as http://localhost:4000.',
  });
}

/**
 * Connects to an agent and checks that it responds. Without `allowRemote`, neither the URL nor the interfaces of the card
 * may be on another host. Failed requests are not repeated, because a load run counts them.
 */
export async function openLoadTarget(url: string, options: LoadTargetOptions): Promise<LoadTarget> {
  const { allowRemote = false, connections, client = {}, signal } = options;
  if (!allowRemote) checkLoopbackTarget(url);
  const agent = connect(url, {
    ...client,
    headers: { 'user-agent': product, ...client.headers },
    endpointCache: createEndpointCache(1),
    maxConnections: connections,
    maxRetries: 0,
    maxResumes: 0,
    // Also holds for interfaces that the client tries when the first one fails.
    ...(!allowRemote && { egress: { allowOnly: ['localhost', '127.0.0.1', '::1'] } }),
  });
  try {
    await agent.check({ signal });
    const description = await agent.describe({ signal });
    // The card of a local agent may list an interface elsewhere.
    if (!allowRemote) checkLoopbackTarget(description.url);
    return { description, perform: await createRequest(agent, options), close: () => agent.close() };
  } catch (thrown) {
    await agent.close();
    throw thrown;
  }
}

async function createRequest(
  agent: RemoteAgent,
  { operation, text = 'hello', taskId, signal, onTask }: LoadTargetOptions,
): Promise<PerformRequest> {
  switch (operation) {
    case 'send':
      return async (request) => {
        const result = await agent.send(text, { signal: request.signal });
        if (isTask(result)) onTask?.(result.id);
        return resultFailure(result);
      };
    case 'stream':
      return async (request) => {
        let last: StreamEvent | undefined;
        for await (const event of agent.stream(text, { signal: request.signal })) {
          request.onEvent();
          if (event.kind === 'task') onTask?.(event.task.id);
          if (event.kind !== 'artifact') last = event;
        }
        return eventFailure(last);
      };
    case 'get': {
      const id = taskId ?? (await createTask(agent, text, signal));
      if (taskId === undefined) onTask?.(id);
      return async (request) => {
        await agent.getTask({ id }, { signal: request.signal });
        return undefined;
      };
    }
  }
}

async function createTask(
  agent: RemoteAgent,
  text: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const result = await agent.send(text, { signal });
  if (isTask(result)) return result.id;
  throw new A2AError('UNSUPPORTED_OPERATION', 'The agent replied with a message and has no task to get', {
    hint: 'Select the operation send or stream, or the ID of an existing task.',
  });
}

function resultFailure(result: Task | Message): LoadFailure | undefined {
  return isTask(result) ? statusFailure(result.status) : undefined;
}

function eventFailure(last: StreamEvent | undefined): LoadFailure | undefined {
  if (!last) return { reason: 'INVALID_AGENT_RESPONSE', message: 'The stream had no status and no message' };
  if (last.kind === 'task') return statusFailure(last.task.status);
  return last.kind === 'status' ? statusFailure(last.status) : undefined;
}

/** A task that ended without success is a failed request. */
function statusFailure({ state, message }: TaskStatus): LoadFailure | undefined {
  if (state !== 'failed' && state !== 'rejected' && state !== 'canceled') return undefined;
  return {
    reason: `TASK_STATE_${state.toUpperCase()}`,
    message: (message && textOf(message)) || `The task ended in the state ${state}`,
  };
}
