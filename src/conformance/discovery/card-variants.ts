import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { RequestOverrides, ProtocolDriver } from '../drivers/protocol-driver.ts';
import { createDriver0_1 } from '../drivers/v0_1.ts';
import { createDriver0_3 } from '../drivers/v0_3.ts';
import { createDriver1_0 } from '../drivers/v1_0.ts';
import { isJsonObject, type JsonObject, asList, asText } from '../drivers/normalized-views.ts';

/** A card as an agent shows it, and where. */
export interface PublishedCard {
  readonly url: string;
  readonly card: JsonObject;
  /** The version whose shape it has. */
  readonly version: CheckedVersion;
}

/** Members that came with 0.2 and stayed until 0.3. */
const newer = [
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'securitySchemes',
  'security',
];

/** The version whose shape a card has, and whether nothing else could be meant: cards of 0.1 and 0.2 may be the same. */
export function detectCardVersion(card: JsonObject): { version: CheckedVersion; isCertain: boolean } {
  if (Array.isArray(card.supportedInterfaces)) return { version: '1.0', isCertain: true };
  if (newer.some((member) => card[member] !== undefined)) return { version: '0.3', isCertain: true };
  if (isJsonObject(card.authentication)) return { version: '0.1', isCertain: true };
  return { version: card.defaultInputModes === undefined ? '0.1' : '0.3', isCertain: false };
}

/** Every way in which a card says that its agent can be spoken to, each once, the preferred one first. */
export function cardVariants({ card, url, version }: PublishedCard): ProtocolDriver[] {
  const variants: ProtocolDriver[] = [];
  const extensions = requiredExtensions(card);
  const add = (spoken: CheckedVersion | undefined, binding: unknown, at: unknown, tenant?: unknown): void => {
    const where = absolute(asText(at), url);
    const transport = transportOf(binding);
    if (spoken === undefined || transport === undefined || where === undefined) return;
    if (variants.some((variant) => variant.version === spoken && variant.transport === transport)) return;
    variants.push(withDeclaredExtensions(createDriver(spoken, transport, where, asText(tenant)), extensions));
  };
  if (version === '1.0') {
    for (const each of asList(card.supportedInterfaces) ?? []) {
      if (!isJsonObject(each)) continue;
      add(parseVersionName(each.protocolVersion) ?? '1.0', each.protocolBinding, each.url, each.tenant);
    }
    return variants;
  }
  add(version, card.preferredTransport ?? 'JSONRPC', card.url);
  for (const each of asList(card.additionalInterfaces) ?? [])
    if (isJsonObject(each)) add(version, each.transport, each.url);
  return variants;
}

/** Speaks a version over a transport, for a tenant if the interface names one. */
export function createDriver(
  version: CheckedVersion,
  transport: CheckedTransport,
  url: string,
  tenant = '',
): ProtocolDriver {
  if (version === '1.0' && tenant !== '') return speakFor(tenant, transport, url);
  if (version === '1.0') return createDriver1_0(transport, url);
  return version === '0.3' ? createDriver0_3(transport, url) : createDriver0_1(url);
}

/** The tenant is in the path of REST and among the params of JSON-RPC. */
function speakFor(tenant: string, transport: CheckedTransport, url: string): ProtocolDriver {
  if (transport === 'HTTP+JSON')
    return createDriver1_0(transport, `${url.replace(/\/+$/, '')}/${encodeURIComponent(tenant)}`);
  const driver = createDriver1_0(transport, url);
  const within = ({ transform = (wire) => wire, ...overrides }: RequestOverrides = {}): RequestOverrides => ({
    ...overrides,
    transform: (wire) => transform({ tenant, ...wire }),
  });
  return {
    ...driver,
    encode: (operation, input, overrides) => driver.encode(operation, input, within(overrides)),
  };
}

/** The extensions without which an agent does nothing. */
export function requiredExtensions(card: JsonObject): string[] {
  const declared = isJsonObject(card.capabilities) ? (asList(card.capabilities.extensions) ?? []) : [];
  return declared
    .filter(isJsonObject)
    .filter(({ required }) => required === true)
    .flatMap(({ uri }) => asText(uri) ?? []);
}

/** Declares with every request that we know what the agent requires; a check may say otherwise. */
export function withDeclaredExtensions(driver: ProtocolDriver, uris: readonly string[]): ProtocolDriver {
  if (uris.length === 0) return driver;
  const name = driver.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions';
  const declaring = ({ headers, ...overrides }: RequestOverrides = {}): RequestOverrides => ({
    ...overrides,
    headers: { [name]: uris.join(','), ...headers },
  });
  return {
    ...driver,
    headers: { ...driver.headers, [name]: uris.join(',') },
    encode: (operation, input, overrides) => driver.encode(operation, input, declaring(overrides)),
  };
}

/** The version that a text such as `0.3.0` names. */
export function parseVersionName(text: unknown): CheckedVersion | undefined {
  const named = /^(\d+\.\d+)/.exec(asText(text) ?? '')?.[1];
  if (named === '1.0') return '1.0';
  if (named === '0.3' || named === '0.2') return '0.3';
  return named === '0.1' ? '0.1' : undefined;
}

function transportOf(binding: unknown): CheckedTransport | undefined {
  return binding === 'JSONRPC' || binding === 'HTTP+JSON' ? binding : undefined;
}

function absolute(at: string | undefined, base: string): string | undefined {
  try {
    return at === undefined ? undefined : new URL(at, base).href;
  } catch {
    return undefined;
  }
}
