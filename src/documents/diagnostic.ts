/** Something wrong in a file, and where. */
export interface Diagnostic {
  /** What is wrong, and what would be right. */
  readonly message: string;
  /** Where in the document, such as `rules[0].when.text`; empty for the document itself. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * A file that is not as it should be. Its message has one line for each complaint, as an editor can jump to it, from
 * the top of the file to its bottom.
 */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];

  constructor(file: string, complaints: readonly Diagnostic[]) {
    const sorted = complaints.toSorted((a, b) => a.line - b.line || a.column - b.column);
    super(sorted.map((each) => `${file}:${each.line}:${each.column}: ${told(each)}`).join('\n'));
    this.file = file;
    this.diagnostics = sorted;
  }
}

function told({ path, message }: Diagnostic): string {
  return path === '' ? message : `${path}: ${message}`;
}
