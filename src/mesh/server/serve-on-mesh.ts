import type { Agent } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import { Announcer } from './announcer.ts';
import { RequestDispatcher } from './request-dispatcher.ts';
import { type MeshServerOptions, resolveMeshServerSettings } from './mesh-server-options.ts';
import { MeshTopics } from '../mesh-topics.ts';

export type { BatchOptions } from './text-batcher.ts';
export type {
  MeshServerOptions,
  MeshServerLimits,
  MeshLossContext,
  MeshServerTimeouts,
} from './mesh-server-options.ts';

/** An agent that is shown on the mesh. */
export interface MeshServer extends AsyncDisposable {
  readonly name: string;
  /** Where it takes requests. */
  readonly topic: string;
  /** How many requests are worked on now. */
  readonly running: number;
  /** Announces nothing any more, takes no more requests, and waits for those that are being worked on. */
  close(): Promise<void>;
}

/**
 * Shows an agent on the mesh: it takes requests of A2A 0.1, 0.3 and 1.0 under a name, and answers each in its own words
 * with updates and exactly one answer. With an agent at a URL, this is a proxy.
 *
 * @example
 * ```ts
 * const face = await showOnMesh(connect('https://agent.example.com'), {
 *   link: memoryLink(),
 *   namespace: 'myorg/dev',
 *   name: 'Researcher',
 * });
 * ```
 */
export async function serveOnMesh(agent: Agent, options: MeshServerOptions): Promise<MeshServer> {
  const { broker: link, name, card, queue, shared } = options;
  const topics = new MeshTopics(options.namespace);
  const topic = topics.request(name);
  const settings = resolveMeshServerSettings(options);
  const { clock, limits, log, timeouts } = settings;
  await agent.ready?.();
  const reception = new RequestDispatcher(agent, { link, name, topics }, settings);
  const subscription = await link.subscribe(topic, (delivery) => reception.take(delivery), {
    queue,
    shared,
    // A cancel must come through while all are at work.
    concurrency: Math.min(limits.concurrency + limits.queued, 65_535),
  });
  const announcer = new Announcer(agent, {
    link,
    naming: { name, topics, displayName: options.displayName },
    interval: card?.interval ?? 10_000,
    version: card?.version ?? '0.3',
    clock,
    log,
  });
  announcer.start();
  let closing: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await announcer.stop();
    const stop = clock.after(timeouts.close, () =>
      reception.endAll(new A2AError('UNAVAILABLE', `The proxy of agent '${name}' is shutting down`)),
    );
    await subscription.close();
    stop();
  };
  const close = (): Promise<void> => (closing ??= end());
  return {
    name,
    topic,
    get running() {
      return reception.running;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
