import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import { asText, objectOf } from '../drivers/normalized-views.ts';
import { isEventStream } from '../wire/http-exchange.ts';
import type { RawHttpClient } from '../wire/raw-http-client.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { createDriver, declaredVariants, endpointUrl, type PublishedCard } from './card-variants.ts';
import type { DiscoveryOptions } from './discovery-options.ts';
import { probeEndpoints } from './probe-endpoints.ts';

/** Which variants of an agent are tested, and how they are found. */
export interface VariantSelection extends DiscoveryOptions {
  readonly versions?: readonly CheckedVersion[];
  readonly transports?: readonly CheckedTransport[];
}

/** The cards and variants of an agent. */
export interface AgentVariants {
  readonly cards: readonly PublishedCard[];
  /** All variants of the agent. */
  readonly served: readonly ProtocolDriver[];
  /** The variants to test. */
  readonly selected: readonly ProtocolDriver[];
  /** True if the variants were found at the given URL because the cards declare none. */
  readonly isGuessed: boolean;
}

/** Returns the variants that the cards declare. If they declare none, tries the URL of the agent. */
export async function findVariants(
  http: RawHttpClient,
  url: string,
  published: readonly PublishedCard[],
  headers: Readonly<Record<string, string>>,
  { versions, transports, probesByMessage = true }: VariantSelection,
): Promise<AgentVariants> {
  const declared = declaredVariants(published);
  const isGuessed = declared.length === 0;
  const found = isGuessed ? await probeEndpoints(http, url, headers, probesByMessage) : declared;
  // A card without marks of a version belongs to the tested version.
  const version = versions?.[0] ?? found[0]?.version ?? '1.0';
  const cards = isGuessed
    ? published.map((each) => (each.isCertain ? each : { ...each, version }))
    : published;
  const served = probesByMessage
    ? await Promise.all(found.map((driver) => findStreamPath(http, driver, cards, headers)))
    : found;
  const selected = served.filter(
    (driver) =>
      (versions?.includes(driver.version) ?? true) && (transports?.includes(driver.transport) ?? true),
  );
  // A version that is named explicitly is tested even if the card does not declare it.
  for (const named of versions ?? []) {
    if (selected.some((driver) => driver.version === named)) continue;
    const address = asText(cards[0]?.card.url) ?? url;
    const transport = transports?.[0] ?? 'JSONRPC';
    const endpoint = endpointUrl(transport, address, url);
    if (endpoint !== undefined) selected.push(createDriver(named, transport, endpoint));
  }
  return { cards, served, selected, isGuessed };
}

/** Streams of 0.1 are at the URL of the agent, or at `/subscribe` below it. */
async function findStreamPath(
  http: RawHttpClient,
  driver: ProtocolDriver,
  cards: readonly PublishedCard[],
  headers: Readonly<Record<string, string>>,
): Promise<ProtocolDriver> {
  const card = cards.find(({ version }) => version === '0.1')?.card ?? {};
  if (driver.version !== '0.1' || objectOf(card.capabilities).streaming !== true) return driver;
  for (const candidate of [driver, withSubscribePath(driver)]) {
    const request = candidate.encode('stream', { message: { text: 'hello' } });
    if (!request) continue;
    const exchange = await http.send({
      ...request,
      headers: { accept: 'text/event-stream', ...headers, ...request.headers },
      onFrame: () => true,
    });
    if (isEventStream(exchange)) return candidate;
  }
  return driver;
}

/** Sends the requests of streams to `/subscribe`. */
function withSubscribePath(driver: ProtocolDriver): ProtocolDriver {
  const url = `${stripTrailing(driver.url, '/')}/subscribe`;
  return {
    ...driver,
    encode(operation, input, overrides) {
      const request = driver.encode(operation, input, overrides);
      return request && (operation === 'stream' || operation === 'subscribe') ? { ...request, url } : request;
    },
  };
}
