import { versions } from '../../dialects/negotiation.ts';
import type { AgentCard } from '../../protocol/card.ts';
import type { Way } from '../console-api.ts';

/** A way as it is written in a query. */
export function wayText({ version, transport }: Way): string {
  return `${version}/${transport}`;
}

/** The ways that a card offers and that are spoken here, each once, the one that the client takes first. */
export function waysOf({ interfaces }: AgentCard, taken: Way): Way[] {
  const ways = new Map<string, Way>();
  for (const { protocolBinding, protocolVersion } of interfaces) {
    const version = versions.find(
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
    offered.find((each) => wayText(each) === wayText(taken)) ??
    offered.find(
      (each) => each.version === '0.2' && wayText({ ...each, version: '0.3' }) === wayText(taken),
    ) ??
    taken;
  return [first, ...offered.filter((each) => each !== first)];
}
