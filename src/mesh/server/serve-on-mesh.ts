import type { Agent } from '../../protocol/agent.ts';
import { withTimeouts } from '../../protocol/composition/with-timeouts.ts';
import { A2AError } from '../../protocol/errors.ts';
import { Announcer } from './announcer.ts';
import { RequestDispatcher } from './request-dispatcher.ts';
import { type MeshServerOptions, resolveMeshServerSettings } from './mesh-server-options.ts';
import { traceBroker } from '../trace-broker.ts';
import { MeshTopics } from '../mesh-topics.ts';
import type { Clock } from '../../primitives/clock.ts';

export type { BatchOptions } from './text-batcher.ts';
export type {
  MeshServerOptions,
  MeshServerLimits,
  MeshCall,
  MeshLossContext,
  MeshServerTimeouts,
} from './mesh-server-options.ts';

/** Milliseconds for which `close` waits for the error responses of requests that it has ended. */
const publishTime = 5_000;

/** An agent that is served on the mesh. */
export interface MeshServer extends AsyncDisposable {
  readonly name: string;
  /** Request topic. */
  readonly topic: string;
  /** Number of requests in progress. */
  readonly running: number;
  /** Stops the announcements, accepts no more requests, and waits for the requests in progress. */
  close(): Promise<void>;
}

/**
 * Serves an agent on the mesh: accepts requests of A2A 0.1, 0.3 and 1.0 and sends updates and exactly one response in the
 * version of each request. With a remote agent it is a proxy.
 *
 * @example
 * ```ts
 * const server = await serveOnMesh(connect('https://agent.example.com'), {
 *   broker: connectMemoryBroker(),
 *   namespace: 'myorg/dev',
 *   name: 'Researcher',
 * });
 * ```
 */
export async function serveOnMesh(agent: Agent, options: MeshServerOptions): Promise<MeshServer> {
  const { name, card, queue, shared } = options;
  const topics = new MeshTopics(options.namespace);
  const topic = topics.request(name);
  const settings = resolveMeshServerSettings(options);
  const { clock, limits, log, timeouts, tracing } = settings;
  const broker = traceBroker(options.broker, tracing, topics);
  await agent.ready?.();
  const timed = withTimeouts(agent, {
    idle: timeouts.idle,
    total: timeouts.total,
    clock,
    describe: (timeout, milliseconds) =>
      `Remote agent '${name}' ${timeout === 'idle' ? 'sent nothing for' : 'did not end the task within'} ${milliseconds} ms`,
  });
  const dispatcher = new RequestDispatcher(timed, { broker, name, topics }, settings);
  const subscription = await broker.subscribe(topic, (message) => dispatcher.dispatch(message), {
    queue,
    shared,
    // Cancel requests must be received while the maximum number of requests is in progress.
    concurrency: Math.min(limits.concurrency + limits.queued, 65_535),
  });
  const announcer = new Announcer(agent, {
    broker,
    cardOptions: { name, topics, displayName: options.displayName },
    interval: card?.interval ?? 10_000,
    version: card?.version ?? '0.3',
    clock,
    log,
  });
  announcer.start();
  let closing: Promise<void> | undefined;
  const shutDown = async (): Promise<void> => {
    await announcer.stop();
    const closed = subscription.close();
    if (await waitAtMost(clock, timeouts.close, closed)) return;
    dispatcher.endAll(new A2AError('UNAVAILABLE', `The proxy of agent '${name}' is shutting down`));
    await waitAtMost(clock, publishTime, closed);
  };
  const close = (): Promise<void> => (closing ??= shutDown());
  return {
    name,
    topic,
    get running() {
      return dispatcher.running;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Waits for a promise. @returns false if it has not settled in time. */
function waitAtMost(clock: Clock, milliseconds: number, promise: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const stopTimer = clock.after(milliseconds, () => resolve(false));
    promise.then(() => resolve(true), reject).finally(stopTimer);
  });
}
