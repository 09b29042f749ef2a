import type { Probe } from '../../probe.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

/** Fetches the card as a client of 1.0. */
export function fetchCard1_0(
  probe: Probe,
  headers: Record<string, string> = {},
  url = probe.context.cardUrl,
): Promise<HttpExchange> {
  const defaults = { accept: 'application/json', 'a2a-version': '1.0' };
  return probe.sendRaw({ method: 'GET', url, headers: { ...defaults, ...headers } });
}
