/** What a matcher finds, as `expect.extend` of vitest and of jest wants it. */
export interface MatcherResult {
  readonly pass: boolean;
  /** Why it failed or, where it passed, why it should not have. */
  readonly message: () => string;
}

/** A verdict now, or once a stream has ended. */
export type MatcherResultFor<Actual> =
  Actual extends AsyncIterable<unknown> ? Promise<MatcherResult> : MatcherResult;

/** Makes a verdict. Its words are only made when somebody wants them. */
export function matcherResult(
  pass: boolean,
  words: { readonly failed: () => readonly string[]; readonly passed: () => readonly string[] },
): MatcherResult {
  return { pass, message: () => (pass ? words.passed() : words.failed()).join('\n') };
}
