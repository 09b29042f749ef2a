const begin = '-----BEGIN ';
const label = /[A-Z ]{0,20}PRIVATE KEY-----/y;
const end = '-----END';

/**
 * Replaces private keys in PEM format. A key without an end reaches to the end of the text, which may be truncated. Searches
 * for the end instead of using one expression, which would take quadratic time.
 */
export function replacePrivateKeys(text: string, replacement: string): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at)) {
    label.lastIndex = at + begin.length;
    if (!label.test(text)) {
      at += begin.length;
      continue;
    }
    kept += text.slice(from, at) + replacement;
    const endsAt = text.indexOf(end, label.lastIndex);
    if (endsAt < 0) return kept;
    at = from = endsAt + end.length;
  }
  return from === 0 ? text : kept + text.slice(from);
}
