import { backoffDelay } from '../../primitives/backoff.ts';
import { sleep, systemClock } from '../../primitives/clock.ts';
import { requestCard, cardLocations } from './find-cards.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';

const backoff = { minDelay: 100, maxDelay: Infinity, jitter: 'none' } as const;

/** Options of {@link waitUntilReachable}. */
export interface ReachabilityOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly insecure?: boolean;
}

/**
 * Requests the card, with exponential backoff, until the server responds: an agent that was just started may take a while.
 *
 * @returns the reason why the agent is unreachable, or undefined if it responded, even with an error.
 */
export async function waitUntilReachable(
  url: string,
  options: ReachabilityOptions,
): Promise<string | undefined> {
  const { timeout, headers = {}, insecure = false } = options;
  const http = new RawHttpClient({ deadline: timeout, insecure });
  const [location = url] = cardLocations(url);
  const until = performance.now() + timeout;
  try {
    for (let attempt = 0; ; attempt++) {
      const delay = backoffDelay(attempt, backoff);
      const exchange = await requestCard(http, location, '1.0', headers);
      const { status, end, transportError } = exchange;
      const isStarting = status === 0 || status === 502 || status === 503;
      if (!isStarting) return undefined;
      if (performance.now() + delay > until)
        return status > 0
          ? `The server responds with HTTP ${status} only.`
          : `No response from ${location} (${end === 'timeout' ? `no response within ${timeout} ms` : (transportError ?? end)}).`;
      await sleep(systemClock, delay);
    }
  } finally {
    http.close();
  }
}
