import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { type GrpcAddresses, GrpcAddressRewriter } from './grpc/rewrite-grpc-address.ts';

/** Result of {@link rewriteCardUrls}. */
export interface CardUrlChanges {
  /** The card with URLs of the tap; undefined if nothing changed. */
  readonly changed: unknown;
  /** Other origins in the card, whose traffic bypasses the tap. */
  readonly otherOrigins: readonly string[];
  readonly isSigned: boolean;
  /** Addresses of the gRPC interfaces that were replaced by the tap. */
  readonly grpc: GrpcAddresses;
}

/** Names of interface lists in cards of all versions. */
const interfaceLists = [
  'additionalInterfaces',
  'additional_interfaces',
  'supportedInterfaces',
  'supported_interfaces',
];

/**
 * Replaces the origin of the target by the tap in all URLs of a card, and the addresses of gRPC interfaces, which are
 * often on another port. Relative URLs already refer to the tap.
 */
export function rewriteCardUrls(card: unknown, target: URL, tap: string): CardUrlChanges {
  const otherOrigins = new Set<string>();
  let isChanged = false;
  const rewrite = (value: unknown): unknown => {
    const url = typeof value === 'string' ? parseHttpUrl(value, target) : undefined;
    if (url === undefined || url === 'relative') return value;
    if (!isSameOrigin(url, target)) {
      otherOrigins.add(url.origin);
      return value;
    }
    isChanged = true;
    // The path and query keep their original form.
    return tap + (value as string).replace(/^(?:[a-z]+:)?\/\/[^/?#]*/i, '');
  };
  const grpc = new GrpcAddressRewriter(target, tap);
  const rewriteGrpc = (address: string, version: string): string => {
    const { written, otherOrigin } = grpc.rewrite(address, version);
    if (otherOrigin !== undefined) otherOrigins.add(otherOrigin);
    isChanged ||= written !== address;
    return written;
  };
  const rewriteUrl = (json: JsonObject, version: string): JsonObject => {
    const { url } = json;
    if (url === undefined) return json;
    return {
      ...json,
      url: typeof url === 'string' && isGrpc(json) ? rewriteGrpc(url, version) : rewrite(url),
    };
  };
  const json = rewriteUrl(card as JsonObject, '0.3');
  for (const name of interfaceLists) {
    const list = json[name];
    if (!Array.isArray(list)) continue;
    json[name] = list.map((each: unknown) => {
      if (!isJsonObject(each)) return each;
      const version = each.protocolVersion ?? each.protocol_version;
      return rewriteUrl(each, typeof version === 'string' ? version : defaultVersion(name));
    });
  }
  const { signatures } = json;
  return {
    changed: isChanged ? json : undefined,
    otherOrigins: [...otherOrigins],
    isSigned: Array.isArray(signatures) && signatures.length > 0,
    grpc: grpc.addresses,
  };
}

/** Returns true for a JSON object that resembles an agent card of any version. */
export function looksLikeCard(body: unknown): body is JsonObject {
  if (!isJsonObject(body) || typeof body.name !== 'string') return false;
  return 'url' in body || interfaceLists.some((name) => Array.isArray(body[name]));
}

/** Interfaces of cards before 1.0 have no version. */
function defaultVersion(list: string): string {
  return list.startsWith('supported') ? '1.0' : '0.3';
}

function isGrpc(wire: JsonObject): boolean {
  const transport =
    wire.protocolBinding ??
    wire.protocol_binding ??
    wire.transport ??
    wire.preferredTransport ??
    wire.preferred_transport;
  return typeof transport === 'string' && transport.toUpperCase() === 'GRPC';
}

function parseHttpUrl(text: string, base: URL): URL | 'relative' | undefined {
  if (!/^(?:https?:)?\/\//i.test(text)) return /^[a-z][\w+.-]*:/i.test(text) ? undefined : 'relative';
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** The local host has several names. */
function isSameOrigin(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol || a.port !== b.port) return false;
  return a.hostname === b.hostname || (isLocalHost(a.hostname) && isLocalHost(b.hostname));
}
