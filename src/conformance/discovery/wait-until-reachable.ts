import { requestCard, cardLocations } from './find-cards.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';

/** How to find out whether an agent is awake. */
export interface ReachabilityOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds until it is given up. */
  readonly timeout: number;
  readonly insecure?: boolean;
}

/**
 * Asks for the card until somebody answers, because agents that were just started take a while.
 *
 * @returns why nobody does; undefined when somebody did, be it with an error.
 */
export async function waitUntilReachable(
  url: string,
  options: ReachabilityOptions,
): Promise<string | undefined> {
  const { timeout: patience, headers = {}, insecure = false } = options;
  const http = new RawHttpClient({ deadline: patience, insecure });
  const [place = url] = cardLocations(url);
  const until = performance.now() + patience;
  try {
    for (let wait = 100; ; wait *= 2) {
      const exchange = await requestCard(http, place, '1.0', headers);
      const { status, end, transportError: trouble } = exchange;
      const isStarting = status === 0 || status === 502 || status === 503;
      if (!isStarting) return undefined;
      if (performance.now() + wait > until)
        return status > 0
          ? `It answers HTTP ${status} only.`
          : `Nobody answers at ${place} (${end === 'timeout' ? `no answer in ${patience} ms` : (trouble ?? end)}).`;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  } finally {
    http.close();
  }
}
