import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { InconclusiveError } from '../../check-errors.ts';
import type { Probe } from '../../probe.ts';
import { authStatus, type HttpExchange } from '../../wire/http-exchange.ts';

/** Fetches the card as a client of 1.0. */
export function fetchCard1_0(
  probe: Probe,
  headers: Record<string, string> = {},
  url = probe.context.cardUrl,
): Promise<HttpExchange> {
  const defaults = { accept: 'application/json', 'a2a-version': '1.0' };
  return probe.sendRaw({ method: 'GET', url, headers: { ...defaults, ...headers } });
}

/** Expects a JSON object in the response to a request of the card, and returns it. */
export function expectCard(probe: Probe, exchange: HttpExchange): JsonObject {
  const card = exchange.status === 200 ? parseJsonOrUndefined(exchange.body) : undefined;
  const isObject = isJsonObject(card);
  probe.expect(
    isObject,
    `There is no agent card at ${exchange.url}: ${describeCardResponse(probe, exchange)}`,
    {
      expected: 'HTTP 200 with a JSON object',
      actual: `HTTP ${exchange.status} ${exchange.body}`,
      exchanges: [exchange],
    },
  );
  return isObject ? card : {};
}

/** Expects the card in the response to a request without credentials. A missing card is another violation. */
export function expectPublic(probe: Probe, exchange: HttpExchange): void {
  if (!probe.context.hasCard && authStatus(exchange) === undefined)
    throw new InconclusiveError('There is no readable agent card.');
  probe.expectEqual(exchange.status, 200, 'The card cannot be read without credentials');
}

/** Returns why a response contains no card. */
function describeCardResponse(
  { context }: Probe,
  { status, headers, body, end, transportError }: HttpExchange,
): string {
  if (status === 0) return transportError ?? `no response (${end})`;
  if (status === 401 || status === 403)
    return `HTTP ${status}. ${context.advise({ kind: 'credentials' }).replace(/\.$/, '')} if the card requires them`;
  if (status !== 200) return `HTTP ${status}`;
  if (parseJsonOrUndefined(body) !== undefined) return 'the response is JSON, but not an object';
  return `the response is not JSON (${headers['content-type'] ?? 'without a content type'})`;
}
