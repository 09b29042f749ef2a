import { backoffDelay } from '../../../src/primitives/backoff.ts';
import { sleep, systemClock } from '../../../src/primitives/clock.ts';
import { accessState } from './access-state.ts';
import { streamJson } from './api-client.ts';

/** Options of a reconnecting stream. */
export interface ReconnectingStreamOptions<Item> {
  /** Called for each attempt, because the path may contain the last seen position. */
  readonly path: () => string;
  readonly take: (item: Item) => void;
}

const backoff = { minDelay: 500, maxDelay: 10_000, jitter: 'none' } as const;

/**
 * Subscribes to a stream and reconnects with backoff. Pauses while the page is hidden: browsers limit the connections
 * per server, and background tabs would use them up.
 *
 * @returns a function that stops it
 */
export function startReconnectingStream<Item>({ path, take }: ReconnectingStreamOptions<Item>): () => void {
  let connection: AbortController | undefined;
  const read = async (signal: AbortSignal): Promise<void> => {
    for (let attempts = 0; !signal.aborted && accessState.peek() !== 'denied'; attempts++) {
      try {
        for await (const item of streamJson<Item>(path(), { signal })) {
          attempts = 0;
          take(item);
        }
      } catch {
        // The server is unavailable: the page shows a notice, and reconnecting continues.
      }
      await sleep(systemClock, backoffDelay(attempts, backoff), signal).catch(() => {});
    }
  };
  const update = (): void => {
    if (document.hidden) {
      connection?.abort();
      connection = undefined;
    } else if (!connection) {
      connection = new AbortController();
      void read(connection.signal);
    }
  };
  document.addEventListener('visibilitychange', update);
  update();
  return () => {
    document.removeEventListener('visibilitychange', update);
    connection?.abort();
  };
}
