import type { Probe } from '../../probe.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

/** Fetches the card as a client of 1.0. */
export function fetchCard1_0(probe: Probe, headers: Record<string, string> = {}): Promise<HttpExchange> {
  return probe.sendRaw({
    method: 'GET',
    url: probe.context.cardUrl,
    headers: { accept: 'application/json', 'a2a-version': '1.0', ...headers },
  });
}
