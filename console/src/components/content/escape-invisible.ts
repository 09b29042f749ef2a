/** Characters that turn text around, or take no room: by them a name can look like another. */
const unseen = /[\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF]/g;

/** Writes characters that are not seen and change what is seen as their codes. */
export function escapeInvisible(text: string): string {
  return text.replace(unseen, (letter) => {
    const code = letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${code}]`;
  });
}
