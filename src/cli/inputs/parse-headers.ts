import { UsageError } from '../terminal/usage-error.ts';

/** Parses headers of the form `Name: value`. Names become lower case. */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([\w!#$%&'*+.^`|~-]+)\s*:\s*(.*\S)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined)
        // The message does not repeat the text, which may contain a secret.
        throw new UsageError('Invalid header', "Write it in quotes: --header 'Name: value'.");
      return [name.toLowerCase(), value];
    }),
  );
}
