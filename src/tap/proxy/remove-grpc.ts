import { interfaceLists, isJsonObject, type CardJson } from './rewrite-card-urls.ts';

/** A card without its interfaces of gRPC. */
export interface GrpcRemoval {
  readonly card: CardJson;
  /** How much of it was gRPC. */
  readonly grpc: 'none' | 'some' | 'all';
}

/** Leaves out of a card, in any version, the interfaces that a tap of HTTP/1.1 cannot stand in front of. */
export function removeGrpcInterfaces(card: CardJson): GrpcRemoval {
  const kept: CardJson = { ...card };
  const remaining: unknown[] = [];
  let isLess = false;
  for (const name of interfaceLists) {
    const list = card[name];
    if (!Array.isArray(list)) continue;
    const others = list.filter((each: unknown) => !isJsonObject(each) || !isGrpc(transportOf(each)));
    isLess ||= others.length < list.length;
    remaining.push(...others);
    kept[name] = others;
  }
  if (isGrpc(card.preferredTransport ?? card.preferred_transport)) {
    isLess = true;
    for (const name of ['url', 'preferredTransport', 'preferred_transport']) delete kept[name];
    // Older cards must have an address of their own, so that another one takes its place.
    const additional = kept.additionalInterfaces ?? kept.additional_interfaces;
    const next: unknown = Array.isArray(additional) ? additional.find(isJsonObject) : undefined;
    if (isJsonObject(next)) Object.assign(kept, { url: next.url, preferredTransport: transportOf(next) });
  }
  const isAll = remaining.length === 0 && !('url' in kept);
  return isLess ? { card: kept, grpc: isAll ? 'all' : 'some' } : { card, grpc: 'none' };
}

function transportOf(wire: CardJson): unknown {
  return wire.protocolBinding ?? wire.protocol_binding ?? wire.transport;
}

function isGrpc(transport: unknown): boolean {
  return typeof transport === 'string' && transport.toUpperCase() === 'GRPC';
}
