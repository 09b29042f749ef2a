import { chooseForCard } from '../../dialects/card-negotiation.ts';
import { leniently, type Reading } from '../../dialects/translation-loss.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import type { AgentCard, Version } from '../../protocol/card.ts';

/** A card that was understood. */
export interface ReadCard {
  card: AgentCard;
  /** The version in whose words it is; undefined for a card of the model. */
  version: Version | undefined;
  /** It has no mark of any version. */
  uncertain: boolean;
}

/** Reads a card in the words of whatever version it is of, or of the model. */
export function readCard(wire: object, reading: Reading = leniently()): ReadCard {
  if ('interfaces' in wire) return { card: wire as AgentCard, version: undefined, uncertain: false };
  const { dialect, hybrid, uncertain } = chooseForCard(wire);
  const card = dialect.card.read(wire, reading);
  if (hybrid) addOlderHalf(card, wire);
  return { card, version: dialect.version, uncertain };
}

/** A card of two versions names more addresses in the words of the older one. */
function addOlderHalf(card: AgentCard, wire: object): void {
  try {
    const known = new Set(card.interfaces.map((each) => JSON.stringify(each)));
    for (const each of v0_3.card.read(wire, leniently()).interfaces) {
      if (!known.has(JSON.stringify(each))) card.interfaces.push(each);
    }
  } catch {
    // The newer half is enough.
  }
}

/** True when a card has an interface at this path, on whatever host. */
export function namesPath(wire: object, given: URL): boolean {
  const path = given.pathname.replace(/\/+$/, '');
  return readCard(wire).card.interfaces.some(
    ({ url }) => URL.canParse(url, given.href) && new URL(url, given).pathname.replace(/\/+$/, '') === path,
  );
}
