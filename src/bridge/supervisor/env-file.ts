import { type Diagnostic, DocumentError } from '../../documents/diagnostic.ts';

const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/;
const escapes: { readonly [letter: string]: string } = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads a file of `NAME=value` lines. Values may be quoted, then over several lines too; `"…"` knows `\n`, `\r`, `\t`
 * and `\` before anything else, `'…'` knows nothing. `#` begins a comment after a space. Nothing is filled in.
 *
 * @throws DocumentError with the place of each line that is none of that.
 */
export function readEnvFile(text: string, file: string): { [name: string]: string } {
  const values = new Map<string, string>();
  const complaints: Diagnostic[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const [matched, name = ''] = assignment.exec(line) ?? [];
    const complain = (message: string, column = 1) =>
      complaints.push({ message, path: name, line: at + 1, column });
    if (matched === undefined) {
      complain('must be NAME=value, or a comment that begins with #');
      continue;
    }
    const rest = line.slice(matched.length);
    const quote = rest.charAt(0);
    if (quote !== '"' && quote !== "'") {
      values.set(name, rest.replace(/(^|\s)#.*$/, '').trim());
      continue;
    }
    const closed = untilQuote([rest.slice(1), ...lines.slice(at + 1)].join('\n'), quote);
    if (closed === undefined) {
      complain(`has a ${quote} that is not closed`, matched.length + 1);
      continue;
    }
    values.set(name, quote === '"' ? unescaped(closed) : closed);
    const last = closed.split('\n');
    const tail =
      last.length === 1
        ? rest.slice(closed.length + 2)
        : (lines[at + last.length - 1] ?? '').slice((last.at(-1) ?? '').length + 1);
    if (!/^\s*(#|$)/.test(tail)) complain('has something after its closing quote');
    at += last.length - 1;
  }
  if (complaints.length > 0) throw new DocumentError(file, complaints);
  return Object.fromEntries(values);
}

/** What stands before a quote that no backslash hides. */
function untilQuote(text: string, quote: string): string | undefined {
  const found = quote === '"' ? /^(?:[^"\\]|\\[^])*(?=")/.exec(text) : /^[^']*(?=')/.exec(text);
  return found?.[0];
}

function unescaped(text: string): string {
  return text.replace(/\\([^])/g, (_, letter: string) => escapes[letter] ?? letter);
}
