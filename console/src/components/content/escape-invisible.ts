/** Bidirectional and zero-width characters, which can make one name look like another. */
const unseen = /[\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g;

/** Replaces invisible characters that change the display by their code points. */
export function escapeInvisible(text: string): string {
  return text.replace(unseen, (letter) => {
    const code = letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${code}]`;
  });
}
