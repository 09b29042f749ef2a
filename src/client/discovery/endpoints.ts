import { dialectForVariant } from '../../dialects/negotiation.ts';
import type { AgentCard, AgentInterface, ProtocolVersion, Transport } from '../../protocol/card.ts';
import { envelopedRest } from '../transports/enveloped-rest.ts';
import type { Endpoint } from '../transports/transport-binding.ts';
import { parseGrpcAddress } from './grpc-address.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import type { ClientSettings } from '../connect-options.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Versions to try over JSON-RPC if the card is missing or wrong. */
const fallbackVersions: readonly ProtocolVersion[] = ['1.0', '0.3', '0.1'];

/** Returns the identifier of an endpoint in the endpoint cache. */
export function endpointKey({ dialect, transport, url }: Endpoint): string {
  return `${dialect.name} ${transport} ${url}`;
}

/** Origin of a card. */
export interface CardOrigin {
  /** URL of the card, or of the agent if it has no card. */
  url: string | undefined;
  /** The card does not identify its version. */
  uncertain: boolean;
  card?: AgentCard;
}

/**
 * Lists the endpoints of an agent, best first: the interfaces of its card in its order or in that of the options, then
 * alternatives in case the card is wrong.
 */
export function listEndpoints(card: AgentCard, origin: CardOrigin, settings: ClientSettings): Endpoint[] {
  const namedBy = origin.url === undefined ? 'The card' : `The card at ${origin.url}`;
  const endpoints = new Map<string, Endpoint>();
  const add = (each: AgentInterface, name: string) => {
    const endpoint = toEndpoint(each, name, { origin: { ...origin, card }, settings });
    if (endpoint && !endpoints.has(endpointKey(endpoint))) endpoints.set(endpointKey(endpoint), endpoint);
  };
  const versions: readonly ProtocolVersion[] = origin.uncertain ? ['0.3', '0.1', '1.0'] : fallbackVersions;
  // If the card does not identify its version, each version may be the right one.
  const interfaces = origin.uncertain
    ? card.interfaces.flatMap((each) => inVersions(each, versions))
    : card.interfaces;
  for (const each of rankInterfaces(interfaces, settings)) {
    if (endpoints.size === maxEndpoints) break;
    add(each, namedBy);
  }
  const listed = [...endpoints.values()];
  for (const { url, transport } of listed) {
    if (transport !== 'JSONRPC') continue;
    for (const protocolVersion of versions) {
      if (allows(settings, protocolVersion, 'JSONRPC'))
        add({ url, protocolBinding: 'JSONRPC', protocolVersion }, `${namedBy}, for another version,`);
    }
  }
  for (const { url, transport, dialect, tenant } of listed) {
    const rebased = rebaseLocalUrl(url, transport, origin.url);
    if (rebased !== undefined)
      add({ url: rebased, protocolBinding: transport, protocolVersion: dialect.version, tenant }, namedBy);
  }
  return withEnveloped([...endpoints.values()], settings).slice(0, maxEndpoints);
}

/** Endpoints that are tried at most: a card may list any number of interfaces. */
const maxEndpoints = 16;

function inVersions(each: AgentInterface, versions: readonly ProtocolVersion[]): AgentInterface[] {
  if (each.protocolBinding !== 'JSONRPC') return [each];
  return [each, ...versions.map((protocolVersion) => ({ ...each, protocolVersion }))];
}

/**
 * Lists the endpoints to try at a URL without a card.
 *
 * @param isGrpc - true if the URL names a gRPC server. Others are tried with gRPC only if the caller asks for it.
 */
export function fallbackEndpoints(url: string, settings: ClientSettings, isGrpc: boolean): Endpoint[] {
  const list = (protocolBinding: Transport, versions: readonly string[]) =>
    versions.map((protocolVersion) => ({ url, protocolBinding, protocolVersion }));
  const interfaces: AgentInterface[] = isGrpc
    ? list('GRPC', ['1.0', '0.3'])
    : [
        ...list('JSONRPC', fallbackVersions),
        ...list('HTTP+JSON', ['1.0', '0.3']),
        ...(settings.transports ? list('GRPC', ['1.0', '0.3']) : []),
      ];
  const origin = { url: undefined, uncertain: false };
  const endpoints = rankInterfaces(interfaces, settings).flatMap(
    (each) => toEndpoint(each, undefined, { origin, settings }) ?? [],
  );
  return withEnveloped(endpoints, settings);
}

/** Adds the endpoints of agents that expect JSON-RPC requests at REST paths, which no card can state. They are tried last. */
function withEnveloped(endpoints: readonly Endpoint[], settings: ClientSettings): Endpoint[] {
  const { restEnvelope } = settings;
  const isTried = restEnvelope ?? allows(settings, envelopedRest.version, 'HTTP+JSON');
  if (!isTried) return [...endpoints];
  const byUrl = new Map<string, Endpoint>();
  for (const each of endpoints) {
    if (each.transport === 'GRPC') continue;
    const enveloped = { ...each, transport: 'HTTP+JSON', dialect: envelopedRest, tenant: undefined } as const;
    if (!byUrl.has(each.url)) byUrl.set(each.url, enveloped);
  }
  return [...(restEnvelope === true ? [] : endpoints), ...byUrl.values()];
}

function majorMinor(text: string): string {
  return /^\d+\.\d+/.exec(text)?.[0] ?? text;
}

function toEndpoint(
  each: AgentInterface,
  namedBy: string | undefined,
  { origin, settings }: { origin: CardOrigin; settings: ClientSettings },
): Endpoint | undefined {
  const transport = each.protocolBinding.toUpperCase() as Transport;
  const dialect = dialectForVariant(majorMinor(each.protocolVersion), transport);
  const url = dialect && parseInterfaceUrl(settings.endpoint ?? each.url, transport, origin.url);
  if (!url) return undefined;
  // Only 1.0 supports tenants.
  const tenant = dialect.version === '1.0' ? (settings.tenant ?? each.tenant) : undefined;
  return {
    url: url.href,
    transport,
    dialect,
    tenant: tenant === '' ? undefined : tenant,
    namedBy: settings.endpoint === undefined ? namedBy : undefined,
    card: origin.card,
  };
}

function parseInterfaceUrl(
  target: string,
  transport: Transport,
  cardUrl: string | undefined,
): URL | undefined {
  if (transport === 'GRPC') return parseGrpcAddress(target, cardUrl);
  const url = parseUrl(target, cardUrl);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}

function allows({ versions, transports }: ClientSettings, version: string, transport: string): boolean {
  return (
    (!versions || versions.includes(version as ProtocolVersion)) &&
    (!transports || transports.includes(transport as Transport))
  );
}

/** Removes interfaces that the options exclude, and sorts by the preferences of the options. */
function rankInterfaces(interfaces: readonly AgentInterface[], settings: ClientSettings): AgentInterface[] {
  const { versions, transports } = settings;
  const rank = (list: readonly string[] | undefined, name: string) => list?.indexOf(name) ?? 0;
  return interfaces
    .filter((each) => allows(settings, majorMinor(each.protocolVersion), each.protocolBinding.toUpperCase()))
    .map((each, i) => ({ each, i }))
    .sort(
      (a, b) =>
        rank(versions, majorMinor(a.each.protocolVersion)) -
          rank(versions, majorMinor(b.each.protocolVersion)) ||
        rank(transports, a.each.protocolBinding.toUpperCase()) -
          rank(transports, b.each.protocolBinding.toUpperCase()) ||
        a.i - b.i,
    )
    .map(({ each }) => each);
}

/** Replaces a local host name in a card by the host of the card, because agents often publish their local URL. */
function rebaseLocalUrl(url: string, transport: Transport, cardUrl: string | undefined): string | undefined {
  if (cardUrl === undefined) return undefined;
  const [listed, actual] = [new URL(url), new URL(cardUrl)];
  if (listed.origin === actual.origin || !isLocalHost(listed.hostname)) return undefined;
  // gRPC often has a port of its own.
  if (transport === 'GRPC') actual.port = listed.port;
  return actual.origin + listed.pathname + listed.search;
}
