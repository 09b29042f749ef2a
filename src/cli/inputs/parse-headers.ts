import { UsageError } from '../terminal/usage-error.ts';

/** Parses headers of the form `Name: value`. Names become lower case. */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      const name = line.slice(0, Math.max(0, colon)).trimEnd();
      const value = line.slice(colon + 1).trim();
      if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || value === '' || /[\r\n]/.test(value))
        // The message does not repeat the text, which may contain a secret.
        throw new UsageError('Invalid header', "Write it in quotes: --header 'Name: value'.");
      return [name.toLowerCase(), value];
    }),
  );
}
