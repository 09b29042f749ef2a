// Formats text for Markdown and its tables.

/** A text on one line. */
export function flat(text) {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}

/** Lower-cases the first letter of a sentence that continues another, except in names. */
export function lower(text) {
  return /^[A-Z][a-z]*\b(?! ?[A-Z])/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

/** A text for a cell of a table. */
export function inCell(text) {
  return flat(text).replaceAll('|', '\\|');
}

/** Escapes HTML and Markdown. */
export function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('|', '&#124;')
    .replaceAll('*', '&#42;')
    .replaceAll('_', '&#95;');
}

/** Sorts names, small letters beside capitals. */
export function compare(a, b) {
  return a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : a < b ? -1 : 1;
}
