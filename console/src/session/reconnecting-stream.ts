import { accessState } from './access-state.ts';
import { streamJson } from './api-client.ts';

/** What to follow, for how long. */
export interface ReconnectingStreamOptions<Item> {
  /** Asked anew for each attempt, because it may say what was seen last. */
  readonly path: () => string;
  readonly take: (item: Item) => void;
}

/**
 * Follows a stream, and again when it breaks. It rests while nobody looks at the page: a browser opens only a few
 * connections to one server, and forgotten tabs would hold them all.
 *
 * @returns what ends it.
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
        // The server is gone for now, or for good: the page says so above all views, and this goes on asking.
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
