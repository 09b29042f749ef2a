import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import { interfaceLists } from './rewrite-card-urls.ts';

/** Result of {@link removeGrpcInterfaces}. */
export interface GrpcRemoval {
  readonly card: JsonObject;
  /** How many of the interfaces were gRPC. */
  readonly grpc: 'none' | 'some' | 'all';
}

/** Removes gRPC interfaces from a card of any version, because the tap proxies only HTTP/1.1. */
export function removeGrpcInterfaces(card: JsonObject): GrpcRemoval {
  const result: JsonObject = { ...card };
  const remaining: unknown[] = [];
  let isChanged = false;
  for (const name of interfaceLists) {
    const list = card[name];
    if (!Array.isArray(list)) continue;
    const others = list.filter((each: unknown) => !isJsonObject(each) || !isGrpc(transportOf(each)));
    isChanged ||= others.length < list.length;
    remaining.push(...others);
    result[name] = others;
  }
  if (isGrpc(card.preferredTransport ?? card.preferred_transport)) {
    isChanged = true;
    for (const name of ['url', 'preferredTransport', 'preferred_transport']) delete result[name];
    // Cards before 1.0 need a `url`, so another interface replaces it.
    const additional = result.additionalInterfaces ?? result.additional_interfaces;
    const next: unknown = Array.isArray(additional) ? additional.find(isJsonObject) : undefined;
    if (isJsonObject(next)) Object.assign(result, { url: next.url, preferredTransport: transportOf(next) });
  }
  const isAll = remaining.length === 0 && !('url' in result);
  return isChanged ? { card: result, grpc: isAll ? 'all' : 'some' } : { card, grpc: 'none' };
}

function transportOf(wire: JsonObject): unknown {
  return wire.protocolBinding ?? wire.protocol_binding ?? wire.transport;
}

function isGrpc(transport: unknown): boolean {
  return typeof transport === 'string' && transport.toUpperCase() === 'GRPC';
}
