import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import { isLocalHost } from '../../primitives/loopback.ts';

/** Result of {@link rewriteCardUrls}. */
export interface CardUrlChanges {
  /** The card with URLs of the tap; undefined if nothing changed. */
  readonly changed: unknown;
  /** Other origins in the card, whose traffic bypasses the tap. */
  readonly otherOrigins: readonly string[];
  readonly isSigned: boolean;
}

/** Names of interface lists in cards of all versions. */
export const interfaceLists = [
  'additionalInterfaces',
  'additional_interfaces',
  'supportedInterfaces',
  'supported_interfaces',
];

/** Replaces the origin of the target by the tap in all URLs of a card. Relative URLs already refer to the tap. */
export function rewriteCardUrls(card: unknown, target: URL, tap: string): CardUrlChanges {
  const otherOrigins = new Set<string>();
  let isChanged = false;
  const rewrite = (value: unknown): unknown => {
    const url = typeof value === 'string' ? parseHttpUrl(value, target) : undefined;
    if (url === undefined || url === 'relative') return value;
    if (!isSameOrigin(url, target)) {
      otherOrigins.add(url.origin);
      return value;
    }
    isChanged = true;
    // The path and query keep their original form.
    return tap + (value as string).replace(/^(?:[a-z]+:)?\/\/[^/?#]*/i, '');
  };
  const rewriteUrl = (json: JsonObject): JsonObject =>
    'url' in json ? { ...json, url: rewrite(json.url) } : json;
  const json = rewriteUrl(card as JsonObject);
  for (const name of interfaceLists) {
    const list = json[name];
    if (Array.isArray(list))
      json[name] = list.map((each: unknown) => (isJsonObject(each) ? rewriteUrl(each) : each));
  }
  const { signatures } = json;
  return {
    changed: isChanged ? json : undefined,
    otherOrigins: [...otherOrigins],
    isSigned: Array.isArray(signatures) && signatures.length > 0,
  };
}

/** Returns true for a JSON object that resembles an agent card of any version. */
export function looksLikeCard(body: unknown): body is JsonObject {
  if (!isJsonObject(body) || typeof body.name !== 'string') return false;
  return 'url' in body || interfaceLists.some((name) => Array.isArray(body[name]));
}

function parseHttpUrl(text: string, base: URL): URL | 'relative' | undefined {
  if (!/^(?:https?:)?\/\//i.test(text)) return /^[a-z][\w+.-]*:/i.test(text) ? undefined : 'relative';
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** The local host has several names. */
function isSameOrigin(a: URL, b: URL): boolean {
  if (a.protocol !== b.protocol || a.port !== b.port) return false;
  return a.hostname === b.hostname || (isLocalHost(a.hostname) && isLocalHost(b.hostname));
}
