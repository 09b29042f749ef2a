// Texts as Markdown and its tables take them.

export function flat(text) {
  return text.replaceAll(/\s*\n\s*/g, ' ').trim();
}

export function lower(text) {
  return /^[A-Z][a-z]*\b(?! ?[A-Z])/.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

export function inCell(text) {
  return flat(text).replaceAll('|', '\\|');
}

export function escapeHtml(text) {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('|', '&#124;')
    .replaceAll('*', '&#42;')
    .replaceAll('_', '&#95;');
}

export function compare(a, b) {
  return a.toLowerCase() < b.toLowerCase() ? -1 : a.toLowerCase() > b.toLowerCase() ? 1 : a < b ? -1 : 1;
}
