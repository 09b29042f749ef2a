import { UsageError } from '../terminal/usage-error.ts';

/** Headers as they are typed: `Name: value`. */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*\S)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        // The text may hold a secret, so it is not repeated.
        throw new UsageError(
          'a header is not as it should be',
          "Write it in quotes: --header 'Name: value'.",
        );
      return [name.toLowerCase(), value];
    }),
  );
}
