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
