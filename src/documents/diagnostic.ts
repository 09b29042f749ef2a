/** An error in a file with its location. */
export interface Diagnostic {
  readonly message: string;
  /** Path such as `rules[0].when.text`; empty for the document itself. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * Errors in a file. The message has one line `file:line:column: …` per diagnostic, in the order of the file, so that
 * editors can jump to it.
 */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];

  constructor(file: string, diagnostics: readonly Diagnostic[]) {
    const sorted = diagnostics.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super(sorted.map((each) => `${file}:${each.line}:${each.column}: ${formatMessage(each)}`).join('\n'));
    this.file = file;
    this.diagnostics = sorted;
  }
}

function formatMessage({ path, message }: Diagnostic): string {
  return path === '' ? message : `${path}: ${message}`;
}
