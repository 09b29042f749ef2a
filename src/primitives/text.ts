/**
 * Shortens a text and marks the cut with `…`.
 *
 * @param maxLength - characters of the result, including the mark; with `showLength` characters of the text that are
 * retained before `… (1234 characters)`.
 */
export function truncate(
  text: string,
  maxLength: number,
  { showLength = false }: { readonly showLength?: boolean } = {},
): string {
  if (text.length <= maxLength) return text;
  if (showLength) return `${text.slice(0, maxLength)}… (${text.length} characters)`;
  return `${text.slice(0, Math.max(0, maxLength - 1))}…`;
}

/**
 * Removes all of these characters from the end of a text. The time is linear in the length of the text, unlike that of
 * `text.replace(/x+$/, '')`.
 */
export function stripTrailing(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Replaces each line break, with the white space around it, by one space. */
export function joinLines(text: string): string {
  return text.replaceAll(/\s+/g, (space) => (space.includes('\n') ? ' ' : space));
}

/** Escapes a text for a regular expression. */
export function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
