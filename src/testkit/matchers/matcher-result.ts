/** Result of a matcher, in the format of `expect.extend` of vitest and jest. */
export interface MatcherResult {
  readonly pass: boolean;
  /** Returns the failure message, also for negated assertions. */
  readonly message: () => string;
}

/** A result, or a promise of it for an async iterable. */
export type MatcherResultFor<Actual> =
  Actual extends AsyncIterable<unknown> ? Promise<MatcherResult> : MatcherResult;

/** Creates a matcher result with a lazily built message. */
export function matcherResult(
  pass: boolean,
  messages: { readonly failed: () => readonly string[]; readonly passed: () => readonly string[] },
): MatcherResult {
  return { pass, message: () => (pass ? messages.passed() : messages.failed()).join('\n') };
}
