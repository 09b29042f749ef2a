/** Returns what is wrong with a regular expression; undefined if it is valid. */
export function regexError(source: string): string | undefined {
  try {
    return void new RegExp(source);
  } catch (thrown) {
    return `must be a regular expression: ${(thrown as Error).message}`;
  }
}
