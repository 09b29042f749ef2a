import { supportedVersions } from '../../dialects/negotiation.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { ProtocolVariant } from '../console-api.ts';

/** A way as it is written in a query. */
export function formatVariant({ version, transport }: ProtocolVariant): string {
  return `${version}/${transport}`;
}

/** The ways that a card offers and that are spoken here, each once, the one that the client takes first. */
export function listVariants({ interfaces }: AgentCard, taken: ProtocolVariant): ProtocolVariant[] {
  const ways = new Map<string, ProtocolVariant>();
  for (const { protocolBinding, protocolVersion } of interfaces) {
    const version = supportedVersions.find(
      (each) => protocolVersion === each || protocolVersion.startsWith(`${each}.`),
    );
    const transport = (['JSONRPC', 'HTTP+JSON'] as const).find(
      (each) => each === protocolBinding.toUpperCase(),
    );
    if (version && transport) ways.set(`${version}/${transport}`, { version, transport });
  }
  const offered = [...ways.values()];
  // The client speaks 0.2 in the words of 0.3.
  const first =
    offered.find((each) => formatVariant(each) === formatVariant(taken)) ??
    offered.find(
      (each) => each.version === '0.2' && formatVariant({ ...each, version: '0.3' }) === formatVariant(taken),
    ) ??
    taken;
  return [first, ...offered.filter((each) => each !== first)];
}
