import { supportedVersions } from '../../dialects/negotiation.ts';
import { grpcServiceOf } from '../../dialects/protobuf/grpc-service.ts';
import { type AgentCard, formatVariant, type ProtocolVariant } from '../../protocol/card.ts';

/** Returns the supported protocol variants of a card without duplicates, the variant that the client uses first. */
export function listVariants({ interfaces }: AgentCard, used: ProtocolVariant): ProtocolVariant[] {
  const variants = new Map<string, ProtocolVariant>();
  for (const { protocolBinding, protocolVersion } of interfaces) {
    const version = supportedVersions.find(
      (each) => protocolVersion === each || protocolVersion.startsWith(`${each}.`),
    );
    const transport = (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).find(
      (each) => each === protocolBinding.toUpperCase(),
    );
    if (!version || !transport || (transport === 'GRPC' && !grpcServiceOf(version))) continue;
    variants.set(formatVariant({ version, transport }), { version, transport });
  }
  const isUsed = (variant: ProtocolVariant) => formatVariant(variant) === formatVariant(used);
  const all = [...variants.values()];
  // The client uses the 0.3 dialect for 0.2.
  const first =
    all.find(isUsed) ??
    all.find((each) => each.version === '0.2' && isUsed({ ...each, version: '0.3' })) ??
    used;
  return [first, ...all.filter((each) => each !== first)];
}
