import { type Diagnostic, DocumentError } from '../../documents/diagnostic.ts';

const assignment = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/;
const escapes: { readonly [letter: string]: string } = { n: '\n', r: '\r', t: '\t' };

/**
 * Parses a file of `NAME=value` lines. Quoted values may span several lines; `"…"` supports `\n`, `\r`, `\t` and `\`
 * before any other character, `'…'` has no escapes. `#` after a space starts a comment. Variables are not interpolated.
 *
 * @throws DocumentError with a diagnostic for each invalid line.
 */
export function readEnvFile(text: string, file: string): { [name: string]: string } {
  const values = new Map<string, string>();
  const diagnostics: Diagnostic[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? '';
    if (/^\s*(#|$)/.test(line)) continue;
    const [matched, name = ''] = assignment.exec(line) ?? [];
    const report = (message: string, column = 1) =>
      diagnostics.push({ message, path: name, line: index + 1, column });
    if (matched === undefined) {
      report('must be NAME=value or a comment that starts with #');
      continue;
    }
    const rest = line.slice(matched.length);
    const quote = rest.charAt(0);
    if (quote !== '"' && quote !== "'") {
      const comment = rest.search(/(?:^|\s)#/);
      values.set(name, (comment < 0 ? rest : rest.slice(0, comment)).trim());
      continue;
    }
    const closed = textBeforeQuote([rest.slice(1), ...lines.slice(index + 1)].join('\n'), quote);
    if (closed === undefined) {
      report(`has an unclosed ${quote}`, matched.length + 1);
      continue;
    }
    values.set(name, quote === '"' ? unescape(closed) : closed);
    const valueLines = closed.split('\n');
    const tail =
      valueLines.length === 1
        ? rest.slice(closed.length + 2)
        : (lines[index + valueLines.length - 1] ?? '').slice((valueLines.at(-1) ?? '').length + 1);
    if (!/^\s*(#|$)/.test(tail)) report('has text after its closing quote');
    index += valueLines.length - 1;
  }
  if (diagnostics.length > 0) throw new DocumentError(file, diagnostics);
  return Object.fromEntries(values);
}

/** Returns the text before the first unescaped quote. */
function textBeforeQuote(text: string, quote: string): string | undefined {
  const found = quote === '"' ? /^(?:[^"\\]|\\[^])*(?=")/.exec(text) : /^[^']*(?=')/.exec(text);
  return found?.[0];
}

function unescape(text: string): string {
  return text.replace(/\\([^])/g, (_, letter: string) => escapes[letter] ?? letter);
}
