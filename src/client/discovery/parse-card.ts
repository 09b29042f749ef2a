import { dialectForCard } from '../../dialects/card-negotiation.ts';
import { lenientMode, type DecodeMode } from '../../dialects/translation-loss.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { AgentCard, ProtocolVersion } from '../../protocol/card.ts';

/** A card that was understood. */
export interface ParsedCard {
  card: AgentCard;
  /** The version in whose words it is; undefined for a card of the model. */
  version: ProtocolVersion | undefined;
  /** It has no mark of any version. */
  uncertain: boolean;
}

/** Reads a card in the words of whatever version it is of, or of the model. */
export function parseCard(wire: object, reading: DecodeMode = lenientMode()): ParsedCard {
  if ('interfaces' in wire) return { card: wire as AgentCard, version: undefined, uncertain: false };
  const { dialect, hybrid, uncertain } = dialectForCard(wire);
  const card = dialect.card.read(wire, reading);
  if (hybrid) addOlderHalf(card, wire);
  return { card, version: dialect.version, uncertain };
}

/** A card of two versions names more addresses in the words of the older one. */
function addOlderHalf(card: AgentCard, wire: object): void {
  try {
    const known = new Set(card.interfaces.map((each) => JSON.stringify(each)));
    for (const each of v0_3.card.read(wire, lenientMode()).interfaces) {
      if (!known.has(JSON.stringify(each))) card.interfaces.push(each);
    }
  } catch {
    // The newer half is enough.
  }
}

/** True when a card has an interface at this path, on whatever host. */
export function hasInterfaceAt(wire: object, given: URL): boolean {
  const path = given.pathname.replace(/\/+$/, '');
  return parseCard(wire).card.interfaces.some(
    ({ url }) => URL.canParse(url, given.href) && new URL(url, given).pathname.replace(/\/+$/, '') === path,
  );
}
