import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import {
  cardVariants,
  createDriver,
  detectCardVersion,
  parseVersionName,
} from '../../discovery/card-variants.ts';
import { asText, listOf, objectOf } from '../../drivers/normalized-views.ts';
import type { ProtocolDriver } from '../../drivers/protocol-driver.ts';
import type { ClientFlaw } from './client-flaws.ts';
import { ClientCrashError, ClientFailureError, ConnectionFailureError } from './client-failure.ts';
import type { ReferenceHttp } from './reference-http.ts';

/** A card and the interfaces of it that the client supports, the preferred one first. */
export interface Discovery {
  readonly card: JsonObject;
  readonly drivers: readonly ProtocolDriver[];
}

/** Fetches the card and chooses interfaces. */
export async function discoverInterfaces(
  url: string,
  token: string,
  http: ReferenceHttp,
  has: (flaw: ClientFlaw) => boolean,
): Promise<Discovery> {
  if (has('assumes-interface'))
    return { card: {}, drivers: [createDriver('1.0', 'JSONRPC', `${url}/agent/rpc`)] };
  const card = await fetchCard(url, token, http, has);
  const isOld = has('prefers-old-members') && typeof card.url === 'string';
  const { version } = isOld ? { version: '0.3' as const } : detectCardVersion(card);
  const usable = has('uses-any-interface') ? card : withoutUnknownVersions(card);
  const published = { url, card: usable, version };
  let drivers = cardVariants(published);
  if (has('uses-first-interface-only')) drivers = drivers.slice(0, declaresKnownFirst(card) ? 1 : 0);
  if (has('prefers-json-rpc')) drivers = drivers.toSorted((a, b) => b.transport.localeCompare(a.transport));
  if (has('never-falls-back')) drivers = drivers.slice(0, 1);
  if (has('uses-card-url')) drivers = drivers.map((driver) => redirect(driver, url));
  if (has('accepts-any-card') && drivers.length === 0) return { card, drivers: [] };
  if (drivers.length === 0) throw new ClientFailureError('The card has no interface that is supported');
  return { card, drivers: drivers.filter((driver) => /^https?:/.test(driver.url)) };
}

function redirect(driver: ProtocolDriver, url: string): ProtocolDriver {
  return {
    ...driver,
    encode(operation, input, overrides) {
      const request = driver.encode(operation, input, overrides);
      return request && { ...request, url: `${url}/` };
    },
  };
}

async function fetchCard(
  url: string,
  token: string,
  http: ReferenceHttp,
  has: (flaw: ClientFlaw) => boolean,
): Promise<JsonObject> {
  const headers = {
    accept: 'application/json',
    ...(has('no-version-for-card') ? {} : { 'a2a-version': '1.0' }),
    ...(has('redirects-with-credentials') ? { authorization: `Bearer ${token}` } : {}),
  };
  for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json']) {
    const { status, text } = await http.send({ method: 'GET', url: `${url}${path}`, headers });
    if (status !== 200) continue;
    const card = parseJsonOrUndefined(text);
    if (isJsonObject(card)) {
      if (has('rejects-unknown-members') && 'xFuture' in card)
        throw new ClientFailureError('Unknown member in card');
      return card;
    }
    if (text.length > 100_000 && has('crashes-when-deep')) throw new ClientCrashError();
    if (!has('accepts-any-card')) throw new ClientFailureError('The card is not valid');
  }
  if (has('accepts-any-card')) return {};
  throw new ConnectionFailureError('There is no card');
}

function withoutUnknownVersions(card: JsonObject): JsonObject {
  if (!Array.isArray(card.supportedInterfaces)) return card;
  const supportedInterfaces = listOf(card.supportedInterfaces).filter(
    (each) => parseVersionName(objectOf(each).protocolVersion) !== undefined,
  );
  return { ...card, supportedInterfaces };
}

/** Returns true if the first interface of the card has a known binding. */
function declaresKnownFirst(card: JsonObject): boolean {
  const first =
    objectOf(listOf(card.supportedInterfaces)[0]).protocolBinding ?? card.preferredTransport ?? 'JSONRPC';
  return !(asText(first) ?? '').startsWith('urn:');
}
