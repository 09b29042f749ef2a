import { type CheckedTransport, type CheckedVersion, checkedTransports } from '../rule-model.ts';
import { grpcOrigin } from './grpc-address.ts';
import type { RequestOverrides, ProtocolDriver } from '../drivers/protocol-driver.ts';
import { createDriver0_1 } from '../drivers/v0_1.ts';
import { createDriver0_3 } from '../drivers/v0_3.ts';
import { createDriver1_0 } from '../drivers/v1_0.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import { asText, listOf, objectOf, objectsOf } from '../drivers/normalized-views.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** A card and the URL at which it was found. */
export interface PublishedCard {
  readonly url: string;
  readonly card: JsonObject;
  /** Version of the card format. */
  readonly version: CheckedVersion;
  /** True if the card has members of the version only. */
  readonly isCertain?: boolean;
}

/** Members that exist in 0.2 and 0.3 only. */
const members0_3 = [
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'securitySchemes',
  'security',
];

/** Detects the version of a card format. Cards of 0.1 and 0.2 may be identical; then `isCertain` is false. */
export function detectCardVersion(card: JsonObject): { version: CheckedVersion; isCertain: boolean } {
  if (Array.isArray(card.supportedInterfaces)) return { version: '1.0', isCertain: true };
  if (members0_3.some((member) => card[member] !== undefined)) return { version: '0.3', isCertain: true };
  if (isJsonObject(card.authentication)) return { version: '0.1', isCertain: true };
  return { version: card.defaultInputModes === undefined ? '0.1' : '0.3', isCertain: false };
}

/** Returns the variants of all cards; several cards may declare the same one. */
export function declaredVariants(cards: readonly PublishedCard[]): ProtocolDriver[] {
  const all = cards.flatMap(cardVariants);
  return all.filter(
    ({ version, transport }, index) =>
      all.findIndex((each) => each.version === version && each.transport === transport) === index,
  );
}

/** Returns a driver for each variant that a card declares, the preferred one first. */
export function cardVariants({ card, url, version }: PublishedCard): ProtocolDriver[] {
  const variants: ProtocolDriver[] = [];
  const extensions = requiredExtensions(card);
  const add = (
    declared: CheckedVersion | undefined,
    binding: unknown,
    address: unknown,
    tenant?: unknown,
  ): void => {
    const transport = checkedTransports.find((each) => each === binding);
    const endpoint = endpointUrl(transport, asText(address), url);
    if (declared === undefined || transport === undefined || endpoint === undefined) return;
    // 0.1 has no gRPC.
    if (declared === '0.1' && transport === 'GRPC') return;
    if (variants.some((variant) => variant.version === declared && variant.transport === transport)) return;
    variants.push(
      withDeclaredExtensions(createDriver(declared, transport, endpoint, asText(tenant)), extensions),
    );
  };
  if (version === '1.0') {
    for (const each of listOf(card.supportedInterfaces)) {
      if (!isJsonObject(each)) continue;
      add(parseVersionName(each.protocolVersion) ?? '1.0', each.protocolBinding, each.url, each.tenant);
    }
    return variants;
  }
  add(version, card.preferredTransport ?? 'JSONRPC', card.url);
  for (const each of listOf(card.additionalInterfaces))
    if (isJsonObject(each)) add(version, each.transport, each.url);
  return variants;
}

/** Creates the driver for a version and transport, for the tenant of the interface if it has one. */
export function createDriver(
  version: CheckedVersion,
  transport: CheckedTransport,
  url: string,
  tenant = '',
): ProtocolDriver {
  if (version === '1.0' && tenant !== '') return createTenantDriver(tenant, transport, url);
  if (version === '1.0') return createDriver1_0(transport, url);
  return version === '0.3' ? createDriver0_3(transport, url) : createDriver0_1(url);
}

/** REST sends the tenant in the path, JSON-RPC and gRPC in the request. */
function createTenantDriver(tenant: string, transport: CheckedTransport, url: string): ProtocolDriver {
  if (transport === 'HTTP+JSON')
    return createDriver1_0(transport, `${stripTrailing(url, '/')}/${encodeURIComponent(tenant)}`);
  const driver = createDriver1_0(transport, url);
  const withTenant = ({
    transform = (wire) => wire,
    ...overrides
  }: RequestOverrides = {}): RequestOverrides => ({
    ...overrides,
    transform: (wire) => transform({ tenant, ...wire }),
  });
  return {
    ...driver,
    encode: (operation, input, overrides) => driver.encode(operation, input, withTenant(overrides)),
  };
}

/** Returns the URIs of the extensions that an agent requires. */
export function requiredExtensions(card: JsonObject): string[] {
  return objectsOf(objectOf(card.capabilities).extensions)
    .filter(({ required }) => required === true)
    .flatMap(({ uri }) => asText(uri) ?? []);
}

/** Requests the given extensions with every request; a check may override the header. */
export function withDeclaredExtensions(driver: ProtocolDriver, uris: readonly string[]): ProtocolDriver {
  if (uris.length === 0) return driver;
  const name = driver.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions';
  const withHeader = ({ headers, ...overrides }: RequestOverrides = {}): RequestOverrides => ({
    ...overrides,
    headers: { [name]: uris.join(','), ...headers },
  });
  return {
    ...driver,
    headers: { ...driver.headers, [name]: uris.join(',') },
    encode: (operation, input, overrides) => driver.encode(operation, input, withHeader(overrides)),
  };
}

/** Parses a version such as `0.3.0`; 0.2 counts as 0.3. */
export function parseVersionName(text: unknown): CheckedVersion | undefined {
  const name = /^(\d+\.\d+)/.exec(asText(text) ?? '')?.[1];
  if (name === '1.0') return '1.0';
  if (name === '0.3' || name === '0.2') return '0.3';
  return name === '0.1' ? '0.1' : undefined;
}

/** Returns the URL of an interface. @param cardUrl - resolves relative URLs and `host:port` of gRPC. */
export function endpointUrl(
  transport: CheckedTransport | undefined,
  address: string | undefined,
  cardUrl: string,
): string | undefined {
  if (address === undefined) return undefined;
  if (transport === 'GRPC') return grpcOrigin(address, cardUrl);
  return parseUrl(address, cardUrl)?.href;
}
