import type { ServerContext } from '../http/server-context.ts';

/** Phases of a graceful shutdown, in milliseconds. */
export interface DrainOptions {
  /** Time for which `/readyz` responds 503 while requests are still accepted, so that proxies select other servers. @defaultValue 0 */
  notReady?: number;
  /** Maximum time to wait for running tasks before their streams are ended. @defaultValue 0 */
  tasks?: number;
}

/** What a shutdown drains: one agent, or all agents of a gateway. */
export interface Drainable {
  /** Contexts with open streams. */
  readonly contexts: () => Iterable<ServerContext>;
  /** Called when the server starts to stop, while it still accepts requests. */
  readonly onStopping?: () => void;
  /** Waits until no task is running, for a limited time in milliseconds. */
  readonly whenIdle?: (timeout: number) => Promise<void>;
}

/**
 * Runs the phases of a graceful shutdown and ends all streams after their current frame; clients resume them at another
 * server.
 *
 * @param stopAccepting - called after the first phase, to refuse further requests.
 */
export async function drain(
  { contexts, onStopping, whenIdle }: Drainable,
  { notReady = 0, tasks = 0 }: DrainOptions,
  stopAccepting: () => void,
): Promise<void> {
  onStopping?.();
  if (notReady > 0) await new Promise((resolve) => setTimeout(resolve, notReady));
  stopAccepting();
  if (tasks > 0) await whenIdle?.(tasks);
  for (const context of contexts()) context.endStreams();
}
