import { dialectForCard } from '../../dialects/card-negotiation.ts';
import { lenientMode, type DecodeMode } from '../../dialects/translation-loss.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { copyJson } from '../../primitives/json.ts';
import type { AgentCard, ProtocolVersion } from '../../protocol/card.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Result of {@link parseCard}. */
export interface ParsedCard {
  card: AgentCard;
  /** Version of its format; undefined for a card of the model. */
  version: ProtocolVersion | undefined;
  /** The card does not identify its version. */
  uncertain: boolean;
}

/** Parses a card in the format of any version, or of the model. */
export function parseCard(wire: object, mode: DecodeMode = lenientMode()): ParsedCard {
  if ('interfaces' in wire)
    return { card: copyJson(wire as AgentCard), version: undefined, uncertain: false };
  const { dialect, hybrid, uncertain } = dialectForCard(wire);
  const card = dialect.card.read(wire, mode);
  if (hybrid) addOlderInterfaces(card, wire);
  return { card, version: dialect.version, uncertain };
}

/** A card of two versions lists further interfaces in the older format. */
function addOlderInterfaces(card: AgentCard, wire: object): void {
  try {
    const known = new Set(card.interfaces.map((each) => JSON.stringify(each)));
    for (const each of v0_3.card.read(wire, lenientMode()).interfaces) {
      if (!known.has(JSON.stringify(each))) card.interfaces.push(each);
    }
  } catch {
    // The interfaces of the newer format suffice.
  }
}

/** Returns true if a card lists an interface at the path of a URL, on any host. */
export function hasInterfaceAt(wire: object, agentUrl: URL): boolean {
  const path = stripTrailing(agentUrl.pathname, '/');
  return parseCard(wire).card.interfaces.some(({ url }) => {
    const listed = parseUrl(url, agentUrl);
    return listed !== undefined && stripTrailing(listed.pathname, '/') === path;
  });
}
