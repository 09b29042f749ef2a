/**
 * Characters that are not seen and can make one text look like another: controls, bidirectional controls, zero-width and
 * interlinear characters. Tab, line ends and the joiners of emoji and scripts are not among them.
 */
const unseen =
  // oxlint-disable-next-line no-control-regex -- control characters are what it matches
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/g;

/** Replaces invisible characters that change the display by their code points. */
export function escapeInvisible(text: string): string {
  return text.replace(unseen, (letter) => {
    const code = letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    return `[U+${code}]`;
  });
}
