/** Limits of a JSON text. */
export interface JsonLimits {
  /** Maximum nesting depth. */
  readonly depth: number;
  /** Maximum number of objects, arrays and members of objects, in total. Numbers and texts in arrays are not counted. */
  readonly members: number;
}

const quote = 0x22;
const colon = 0x3a;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const openingBrace = 0x7b;
const closingBrace = 0x7d;

/**
 * Returns the limit that a JSON text exceeds. It scans the text once before it is parsed, because the time and memory of
 * `JSON.parse` grow faster than the text if it has many levels or members. Syntax errors are left to the parser.
 */
export function findExceededLimit(
  text: string,
  { depth, members }: JsonLimits,
): keyof JsonLimits | undefined {
  let open = 0;
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote:
        i = endOfString(text, i + 1);
        if (i === -1) return undefined;
        break;
      case openingBracket:
      case openingBrace:
        if (++open > depth) return 'depth';
        if (++count > members) return 'members';
        break;
      case closingBracket:
      case closingBrace:
        open--;
        break;
      case colon:
        if (++count > members) return 'members';
        break;
    }
  }
  return undefined;
}

/** Returns the offset of the closing quotation mark, or -1. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start); at !== -1; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (first > start && text.charCodeAt(first - 1) === backslash) first--;
    // After an even number of backslashes the quotation mark is not escaped.
    if ((at - first) % 2 === 0) return at;
  }
  return -1;
}
