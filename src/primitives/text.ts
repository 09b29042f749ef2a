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
