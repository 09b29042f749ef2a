import { versions } from '../dialects/choose.ts';
import type { AgentCard } from '../protocol/card.ts';
import type { Way } from './api.ts';

/** A way as it is written in a query. */
export function wayText({ version, transport }: Way): string {
  return `${version}/${transport}`;
}

/** The ways that a card offers and that are spoken here, each once, the best first. */
export function waysOf({ interfaces }: AgentCard, best: Way): Way[] {
  const ways = new Map([[wayText(best), best]]);
  for (const { protocolBinding, protocolVersion } of interfaces) {
    const version = versions.find(
      (each) => protocolVersion === each || protocolVersion.startsWith(`${each}.`),
    );
    const transport = (['JSONRPC', 'HTTP+JSON'] as const).find(
      (each) => each === protocolBinding.toUpperCase(),
    );
    if (!version || !transport) continue;
    const way: Way = { version, transport };
    if (!ways.has(wayText(way))) ways.set(wayText(way), way);
  }
  return [...ways.values()];
}
