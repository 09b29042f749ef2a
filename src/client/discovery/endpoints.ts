import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { AgentCard, AgentInterface, ProtocolVersion, Transport } from '../../protocol/card.ts';
import type { Endpoint } from '../transports/transport-binding.ts';
import { isLocalHost } from '../http/destination-policy.ts';
import type { ClientSettings } from '../connect-options.ts';

/** Every way to speak, by transport and version. */
const dialects: { readonly [T in Transport]: ReadonlyMap<string, Dialect> } = {
  JSONRPC: new Map([
    ['1.0', v1_0],
    ['0.3', v0_3],
    ['0.2', v0_3],
    ['0.1', v0_1],
  ]),
  'HTTP+JSON': new Map([
    ['1.0', v1_0],
    ['0.3', v0_3_rest],
    ['0.2', v0_3_rest],
  ]),
};

/** The versions to try over JSON-RPC at an address about which nothing, or nothing true, is known. */
const guesses: readonly ProtocolVersion[] = ['1.0', '0.3', '0.1'];

/** The name of an endpoint, to find it again. */
export function endpointKey({ dialect, transport, url }: Endpoint): string {
  return `${dialect.name} ${transport} ${url}`;
}

/** Where a card came from. */
export interface CardOrigin {
  /** The address of the card, or the address that was given where there is no card. */
  url: string | undefined;
  /** The card has no mark of any version: later versions of the same address come first. */
  uncertain: boolean;
  card?: AgentCard;
}

/**
 * Every way to reach an agent, the best first: what the card says, in its order or in that of the options, and after
 * that what may be true if the card is not.
 */
export function listEndpoints(card: AgentCard, source: CardOrigin, settings: ClientSettings): Endpoint[] {
  const toldBy = source.url === undefined ? 'The card' : `The card at ${source.url}`;
  const found = new Map<string, Endpoint>();
  const add = (each: AgentInterface, because: string) => {
    const endpoint = endpointOf(each, because, { source: { ...source, card }, settings });
    if (endpoint && !found.has(endpointKey(endpoint))) found.set(endpointKey(endpoint), endpoint);
  };
  const order: readonly ProtocolVersion[] = source.uncertain ? ['0.3', '0.1', '1.0'] : guesses;
  // Where the card says nothing of versions, any of them may be the one that is wanted.
  const offered = source.uncertain
    ? card.interfaces.flatMap((each) => inVersions(each, order))
    : card.interfaces;
  for (const each of ranked(offered, settings)) add(each, toldBy);
  const named = [...found.values()];
  for (const { url, transport } of named) {
    if (transport !== 'JSONRPC') continue;
    for (const protocolVersion of order) {
      if (allows(settings, protocolVersion, 'JSONRPC'))
        add({ url, protocolBinding: 'JSONRPC', protocolVersion }, `${toldBy}, for another version,`);
    }
  }
  for (const { url, transport, dialect, tenant } of named) {
    const moved = rebased(url, source.url);
    if (moved !== undefined)
      add({ url: moved, protocolBinding: transport, protocolVersion: dialect.version, tenant }, toldBy);
  }
  return [...found.values()];
}

function inVersions(each: AgentInterface, versions: readonly ProtocolVersion[]): AgentInterface[] {
  if (each.protocolBinding !== 'JSONRPC') return [each];
  return [each, ...versions.map((protocolVersion) => ({ ...each, protocolVersion }))];
}

/** Every way in which an address without a card may be spoken to. */
export function fallbackEndpoints(url: string, settings: ClientSettings): Endpoint[] {
  const guessed: AgentInterface[] = [
    ...guesses.map((protocolVersion) => ({ url, protocolBinding: 'JSONRPC', protocolVersion })),
    ...['1.0', '0.3'].map((protocolVersion) => ({ url, protocolBinding: 'HTTP+JSON', protocolVersion })),
  ];
  const source = { url: undefined, uncertain: false };
  return ranked(guessed, settings).flatMap((each) => endpointOf(each, undefined, { source, settings }) ?? []);
}

function versionOf(text: string): string {
  return /^\d+\.\d+/.exec(text)?.[0] ?? text;
}

function endpointOf(
  each: AgentInterface,
  toldBy: string | undefined,
  { source, settings }: { source: CardOrigin; settings: ClientSettings },
): Endpoint | undefined {
  const transport = each.protocolBinding.toUpperCase() as Transport;
  const dialect = dialects[transport]?.get(versionOf(each.protocolVersion));
  const where = settings.endpoint ?? each.url;
  if (!dialect || !URL.canParse(where, source.url)) return undefined;
  const url = new URL(where, source.url);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  // Only 1.0 knows tenants.
  const tenant = dialect.version === '1.0' ? (settings.tenant ?? each.tenant) : undefined;
  const told = settings.endpoint === undefined ? toldBy : undefined;
  return {
    url: url.href,
    transport,
    dialect,
    tenant: tenant === '' ? undefined : tenant,
    namedBy: told,
    card: source.card,
  };
}

function allows({ versions, transports }: ClientSettings, version: string, transport: string): boolean {
  return (
    (!versions || versions.includes(version as ProtocolVersion)) &&
    (!transports || transports.includes(transport as Transport))
  );
}

/** Leaves out what the options do not want, and puts first what they want first. */
function ranked(interfaces: readonly AgentInterface[], settings: ClientSettings): AgentInterface[] {
  const { versions, transports } = settings;
  const rank = (list: readonly string[] | undefined, name: string) => list?.indexOf(name) ?? 0;
  return interfaces
    .filter((each) => allows(settings, versionOf(each.protocolVersion), each.protocolBinding.toUpperCase()))
    .map((each, i) => ({ each, i }))
    .sort(
      (a, b) =>
        rank(versions, versionOf(a.each.protocolVersion)) -
          rank(versions, versionOf(b.each.protocolVersion)) ||
        rank(transports, a.each.protocolBinding.toUpperCase()) -
          rank(transports, b.each.protocolBinding.toUpperCase()) ||
        a.i - b.i,
    )
    .map(({ each }) => each);
}

/** An agent that takes its own machine for the world: its address, as seen from where its card was. */
function rebased(url: string, cardUrl: string | undefined): string | undefined {
  if (cardUrl === undefined) return undefined;
  const [told, seen] = [new URL(url), new URL(cardUrl)];
  if (told.origin === seen.origin || !isLocalHost(told.hostname)) return undefined;
  return seen.origin + told.pathname + told.search;
}
