import { accessState } from './access-state.ts';
import { streamJson } from './api-client.ts';

/** Options of a reconnecting stream. */
export interface ReconnectingStreamOptions<Item> {
  /** Called for each attempt, because the path may contain the last seen position. */
  readonly path: () => string;
  readonly take: (item: Item) => void;
}

/**
 * Subscribes to a stream and reconnects with backoff. Pauses while the page is hidden: browsers limit the connections
 * per server, and background tabs would use them up.
 *
 * @returns a function that stops it
 */
export function startReconnectingStream<Item>({ path, take }: ReconnectingStreamOptions<Item>): () => void {
  let now: AbortController | undefined;
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
      await rest(Math.min(10_000, 500 * 2 ** attempts), signal);
    }
  };
  const look = (): void => {
    if (document.hidden) {
      now?.abort();
      now = undefined;
    } else if (!now) {
      now = new AbortController();
      void read(now.signal);
    }
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    now?.abort();
  };
}

function rest(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
