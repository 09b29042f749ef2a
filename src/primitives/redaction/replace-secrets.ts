/**
 * How a kind of secret is found in a text of any length. An expression finds only where it starts, and a function where it ends:
 * expressions with unbounded repetitions throw a RangeError when they read some million characters.
 */
export interface SecretPattern {
  /** A global expression for what precedes the secret. */
  readonly start: RegExp;
  /** True if the match of `start` is a part of the secret. */
  readonly replacesStart?: boolean;
  /** Returns where the secret ends, or undefined if there is none. @param from - the end of the match */
  findEnd(text: string, from: number, match: RegExpExecArray): number | undefined;
}

/** Replaces the secrets of one kind. */
export function replaceSecrets(text: string, pattern: SecretPattern, replacement: string): string {
  let kept = '';
  let from = 0;
  for (const match of text.matchAll(pattern.start)) {
    const { index } = match;
    const at = index + match[0].length;
    // What starts within a secret is replaced with it.
    const end = index < from ? undefined : pattern.findEnd(text, at, match);
    if (end === undefined) continue;
    kept += text.slice(from, pattern.replacesStart ? index : at) + replacement;
    from = end;
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** Finds the bounds of a run of characters of one kind. */
export interface CharacterRun {
  /** Returns the end of the run that starts here; the same position if there is none. */
  endOf(text: string, from: number): number;
  /** Returns the start of the run that ends here, at or after a position. */
  startOf(text: string, end: number, after: number): number;
}

/** @param kind - an expression for one character. */
export function characterRun(kind: RegExp): CharacterRun {
  const isAsciiPart = Array.from({ length: 128 }, (_, code) => kind.test(String.fromCharCode(code)));
  const isPart = (text: string, at: number): boolean =>
    isAsciiPart[text.charCodeAt(at)] ?? kind.test(text.charAt(at));
  return {
    endOf(text, from) {
      let at = from;
      while (at < text.length && isPart(text, at)) at++;
      return at;
    },
    startOf(text, end, after) {
      let at = end;
      while (at > after && isPart(text, at - 1)) at--;
      return at;
    },
  };
}
