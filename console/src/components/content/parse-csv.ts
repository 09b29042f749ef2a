/** The displayed part of a CSV table. */
export interface CsvPreview {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** True if rows or columns were omitted. */
  readonly isCut: boolean;
}

/** Limits of a displayed table. */
export interface CsvPreviewLimits {
  /** @defaultValue 200 */
  readonly maxRows?: number;
  /** @defaultValue 40 */
  readonly maxColumns?: number;
}

/** Detects the separator: the most frequent candidate of the first line. */
function separatorOf(text: string): string {
  const end = text.indexOf('\n');
  const line = end < 0 ? text.slice(0, 4096) : text.slice(0, Math.min(end, 4096));
  const counts = [',', ';', '\t'].map((each) => [each, line.split(each).length] as const);
  counts.sort(([, left], [, right]) => right - left);
  return counts[0]?.[0] ?? ',';
}

/**
 * Parses CSV with RFC 4180 quoting; semicolons and tabs are accepted as separators. Stops at the limits; an unclosed
 * quote ends with the text.
 */
export function parseCsv(
  text: string,
  { maxRows = 200, maxColumns = 40 }: CsvPreviewLimits = {},
): CsvPreview {
  const separator = separatorOf(text);
  const lines: string[][] = [];
  let line: string[] = [];
  let cell = '';
  let isQuoted = false;
  let isCut = false;
  const endCell = () => {
    if (line.length < maxColumns) line.push(cell);
    else isCut = true;
    cell = '';
  };
  const endLine = () => {
    endCell();
    if (line.length > 1 || line[0] !== '') lines.push(line);
    line = [];
  };
  let at = text.startsWith('\u{FEFF}') ? 1 : 0;
  for (; at < text.length && lines.length <= maxRows; at++) {
    const letter = text[at] ?? '';
    if (isQuoted) {
      if (letter !== '"') cell += letter;
      else if (text[at + 1] === '"') {
        cell += '"';
        at++;
      } else isQuoted = false;
    } else if (letter === '"' && cell === '') isQuoted = true;
    else if (letter === separator) endCell();
    else if (letter === '\n') endLine();
    else if (letter !== '\r') cell += letter;
  }
  if (at < text.length) isCut = true;
  else if (cell !== '' || line.length > 0) endLine();
  if (lines.length > maxRows + 1) lines.length = maxRows + 1;
  const [head = [], ...rows] = lines;
  return { head, rows, isCut };
}
