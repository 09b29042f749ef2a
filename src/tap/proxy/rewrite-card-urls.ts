import { isLocalHost } from '../../client/http/destination-policy.ts';

/** What stands in a card that callers go to. */
export interface CardUrlChanges {
  /** The card with the tap in the place of its agent; undefined where nothing had to be changed. */
  readonly changed: unknown;
  /** Addresses that lead elsewhere, past the tap. */
  readonly elsewhere: readonly string[];
  readonly isSigned: boolean;
}

/** A card or a part of one, as it was written. */
export type CardJson = { [member: string]: unknown };

/** The lists of interfaces that cards of any version may have. */
export const interfaceLists = [
  'additionalInterfaces',
  'additional_interfaces',
  'supportedInterfaces',
  'supported_interfaces',
];

/** Puts another address into a card, wherever it names its agent's own. Relative ones lead to the tap by themselves. */
export function rewriteCardUrls(card: unknown, target: URL, tap: string): CardUrlChanges {
  const elsewhere = new Set<string>();
  let isChanged = false;
  const moved = (given: unknown): unknown => {
    const at = typeof given === 'string' ? absolute(given, target) : undefined;
    if (at === undefined || at === 'relative') return given;
    if (!isSame(at, target)) {
      elsewhere.add(at.origin);
      return given;
    }
    isChanged = true;
    // What is behind the origin stays as it was written.
    return tap + (given as string).replace(/^(?:[a-z]+:)?\/\/[^/?#]*/i, '');
  };
  const place = (wire: CardJson): CardJson => ('url' in wire ? { ...wire, url: moved(wire.url) } : wire);
  const wire = place(card as CardJson);
  for (const name of interfaceLists) {
    const list = wire[name];
    if (Array.isArray(list))
      wire[name] = list.map((each: unknown) => (isJsonObject(each) ? place(each) : each));
  }
  const { signatures } = wire;
  return {
    changed: isChanged ? wire : undefined,
    elsewhere: [...elsewhere],
    isSigned: Array.isArray(signatures) && signatures.length > 0,
  };
}

/** True for a JSON object that looks like the card of an agent, in any version. */
export function looksLikeCard(body: unknown): body is CardJson {
  if (!isJsonObject(body) || typeof body.name !== 'string') return false;
  return 'url' in body || interfaceLists.some((name) => Array.isArray(body[name]));
}

/** True for a JSON object. */
export function isJsonObject(value: unknown): value is CardJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function absolute(text: string, base: URL): URL | 'relative' | undefined {
  if (!/^(?:https?:)?\/\//i.test(text)) return /^[a-z][\w+.-]*:/i.test(text) ? undefined : 'relative';
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** This machine has several names. */
function isSame(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol || a.port !== b.port) return false;
  return a.hostname === b.hostname || (isLocalHost(a.hostname) && isLocalHost(b.hostname));
}
