import {
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  parseAllDocuments,
  type Document as Yaml,
} from 'yaml';
import type * as z from 'zod';
import { type Diagnostic, DocumentError } from './diagnostic.ts';
import { toDiagnostics, type DocumentPath, formatPath } from './schema-issues.ts';

/** What a person may write in a file at most. */
const maxCharacters = 5_000_000;

/** A YAML (or JSON) document that knows where everything in it stands. */
export class Document {
  readonly file: string;
  /** The document as plain values. */
  readonly value: unknown;
  readonly #yaml: Yaml;
  readonly #lines: LineCounter;

  private constructor(file: string, yaml: Yaml, lines: LineCounter) {
    this.file = file;
    this.#yaml = yaml;
    this.#lines = lines;
    this.value = yaml.toJS({ maxAliasCount: 100 }) as unknown;
  }

  /**
   * Reads the one document of a text.
   *
   * @throws DocumentError with line and column when it is no YAML, or more than one document.
   */
  static parse(text: string, file: string): Document {
    if (text.length > maxCharacters) throw mistake(file, `A file may have ${maxCharacters} characters`);
    const lines = new LineCounter();
    const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, merge: true });
    const [first, second] = Array.isArray(documents) ? documents : [];
    if (!first) throw mistake(file, 'The file is empty');
    const problems = [...first.errors, ...first.warnings];
    if (problems.length > 0) {
      throw new DocumentError(
        file,
        problems.map(({ message, pos }) => ({ message, path: '', ...place(lines, pos[0]) })),
      );
    }
    if (second) {
      const at = place(lines, second.range?.[0] ?? 0);
      throw new DocumentError(file, [{ message: 'A file holds one document', path: '', ...at }]);
    }
    try {
      return new Document(file, first, lines);
    } catch (thrown) {
      // Aliases that grow without end.
      throw mistake(file, (thrown as Error).message);
    }
  }

  /** Where something stands, or the nearest thing around it that is there. */
  locate(path: DocumentPath): { line: number; column: number } {
    return place(this.#lines, this.#offset(path));
  }

  /** A complaint about something in it. */
  diagnostic(path: DocumentPath, message: string): Diagnostic {
    return { message, path: formatPath(path), ...this.locate(path) };
  }

  /**
   * Checks the document.
   *
   * @param value - what to check instead of the document itself, as after names were filled in.
   * @throws DocumentError with everything that is wrong.
   */
  check<Checked>(schema: z.ZodType<Checked>, value: unknown = this.value): Checked {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return result.data;
    const found = toDiagnostics(result.error.issues);
    throw new DocumentError(
      this.file,
      found.map(({ path, message }) => this.diagnostic(path, message)),
    );
  }

  #offset(path: DocumentPath): number {
    let node: unknown = this.#yaml.contents;
    let offset = offsetOf(node);
    for (const [index, key] of path.entries()) {
      if (isMap(node)) {
        const pair = node.items.find((each) => isPair(each) && isScalar(each.key) && each.key.value === key);
        if (!pair) break;
        const isLast = index === path.length - 1;
        node = pair.value;
        offset = offsetOf(isLast ? pair.key : (node ?? pair.key));
      } else {
        node = (node as { get?: (key: unknown, keep: boolean) => unknown } | undefined)?.get?.(key, true);
        if (node === undefined) break;
        offset = offsetOf(node);
      }
    }
    return offset;
  }
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function place(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function mistake(file: string, message: string): DocumentError {
  return new DocumentError(file, [{ message, path: '', line: 1, column: 1 }]);
}
