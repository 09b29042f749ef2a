import { parseGrpcAddress } from '../../client/discovery/grpc-address.ts';
import { supportedVersions } from '../../dialects/negotiation.ts';
import type { AgentInterface, Transport } from '../../protocol/card.ts';
import type { AgentEndpoint } from '../console-api.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** A card may list any number of interfaces. */
const maxEndpoints = 64;

const transports: readonly Transport[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

/**
 * Lists the supported interfaces of a card.
 *
 * @param context - `used`: the endpoint of the client, which becomes the first one. `cardUrl`: base of relative URLs.
 */
export function listAgentEndpoints(
  interfaces: readonly AgentInterface[],
  { used, cardUrl }: { used: AgentEndpoint; cardUrl: string | undefined },
): readonly AgentEndpoint[] {
  const listed = interfaces.slice(0, maxEndpoints).flatMap((each) => toEndpoint(each, cardUrl) ?? []);
  const isUsed = ({ version, transport, url }: AgentEndpoint): boolean =>
    transport === used.transport && url === used.url && version === used.version;
  return [listed.find(isUsed) ?? used, ...listed.filter((each) => !isUsed(each))];
}

function toEndpoint(
  { url: address, protocolBinding, protocolVersion, tenant }: AgentInterface,
  cardUrl: string | undefined,
): AgentEndpoint | undefined {
  const version = supportedVersions.find((each) => `${protocolVersion}.`.startsWith(`${each}.`));
  const transport = transports.find((each) => each === protocolBinding.toUpperCase());
  if (!version || !transport) return undefined;
  const url = transport === 'GRPC' ? parseGrpcAddress(address, cardUrl) : parseHttpUrl(address, cardUrl);
  if (!url) return undefined;
  const hasTenant = version === '1.0' && tenant !== undefined && tenant !== '';
  return { version, transport, url: url.href, ...(hasTenant && { tenant }) };
}

function parseHttpUrl(address: string, cardUrl: string | undefined): URL | undefined {
  const url = parseUrl(address, cardUrl);
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}
