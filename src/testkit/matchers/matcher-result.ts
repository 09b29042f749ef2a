/** What a matcher finds, as `expect.extend` of vitest and of jest wants it. */
export interface Verdict {
  readonly pass: boolean;
  /** Why it failed or, where it passed, why it should not have. */
  readonly message: () => string;
}

/** A verdict now, or once a stream has ended. */
export type VerdictOn<Actual> = Actual extends AsyncIterable<unknown> ? Promise<Verdict> : Verdict;

/** Makes a verdict. Its words are only made when somebody wants them. */
export function verdict(
  pass: boolean,
  words: { readonly failed: () => readonly string[]; readonly passed: () => readonly string[] },
): Verdict {
  return { pass, message: () => (pass ? words.passed() : words.failed()).join('\n') };
}
