import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseAllDocuments,
  type Document as Yaml,
  type YAMLMap,
} from 'yaml';
import type * as z from 'zod';
import { type Diagnostic, DocumentError } from './diagnostic.ts';
import { toDiagnostics, type DocumentPath, formatPath } from './schema-issues.ts';

const maxCharacters = 5_000_000;

/** A YAML or JSON document that can locate its values. */
export class Document {
  readonly file: string;
  /** The document as plain JSON values. */
  readonly value: unknown;
  readonly #yaml: Yaml;
  readonly #lines: LineCounter;
  /** Entries of maps that contain diagnosed values, by key. */
  readonly #pairs = new WeakMap<YAMLMap, Map<unknown, Pair>>();

  private constructor(file: string, yaml: Yaml, lines: LineCounter) {
    this.file = file;
    this.#yaml = yaml;
    this.#lines = lines;
    this.value = yaml.toJS({ maxAliasCount: 100 }) as unknown;
  }

  /**
   * Parses a text with exactly one document.
   *
   * @throws {@link DocumentError} if the text is not valid YAML, is empty or has several documents
   */
  static parse(text: string, file: string): Document {
    if (text.length > maxCharacters)
      throw documentError(file, `The file exceeds ${maxCharacters} characters`);
    const lines = new LineCounter();
    // The library compares each key with all others of its map, which takes quadratic time.
    const documents = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: true,
      uniqueKeys: false,
    });
    const [first, second] = Array.isArray(documents) ? documents : [];
    if (!first) throw documentError(file, 'The file is empty');
    const errors = [...first.errors, ...first.warnings];
    if (errors.length > 0) {
      throw new DocumentError(
        file,
        errors.map(({ message, pos }) => ({ message, path: '', ...locate(lines, pos[0]) })),
      );
    }
    const repeated = repeatedKeys(first.contents);
    if (repeated.length > 0)
      throw new DocumentError(
        file,
        repeated.map((offset) => ({
          message: 'Map keys must be unique',
          path: '',
          ...locate(lines, offset),
        })),
      );
    if (second) {
      const location = locate(lines, second.range?.[0] ?? 0);
      throw new DocumentError(file, [{ message: 'The file has several documents', path: '', ...location }]);
    }
    try {
      return new Document(file, first, lines);
    } catch (thrown) {
      // Aliases expand to more values than allowed.
      throw documentError(file, (thrown as Error).message);
    }
  }

  /** Returns the location of a value, or of its nearest existing ancestor. */
  locate(path: DocumentPath): { line: number; column: number } {
    return locate(this.#lines, this.#offset(path));
  }

  /** Creates a diagnostic at the location of a value. */
  diagnostic(path: DocumentPath, message: string): Diagnostic {
    return { message, path: formatPath(path), ...this.locate(path) };
  }

  /**
   * Validates the document.
   *
   * @param value - validated instead of the document, for example after interpolation.
   * @throws {@link DocumentError} with all errors
   */
  check<Checked>(schema: z.ZodType<Checked>, value: unknown = this.value): Checked {
    const result = schema.safeParse(value, { reportInput: true });
    if (result.success) return result.data;
    const issues = toDiagnostics(result.error.issues);
    throw new DocumentError(
      this.file,
      issues.map(({ path, message }) => this.diagnostic(path, message)),
    );
  }

  #pairsOf(map: YAMLMap): Map<unknown, Pair> {
    let pairs = this.#pairs.get(map);
    if (!pairs) {
      pairs = new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : undefined, pair]));
      this.#pairs.set(map, pairs);
    }
    return pairs;
  }

  #offset(path: DocumentPath): number {
    let node: unknown = this.#yaml.contents;
    let offset = offsetOf(node);
    for (const [index, key] of path.entries()) {
      if (isMap(node)) {
        const pair = this.#pairsOf(node).get(key);
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

/** Returns the offsets of keys that occur before in the same map. Merge keys may be repeated. */
function repeatedKeys(root: unknown): number[] {
  const offsets: number[] = [];
  const rest: unknown[] = [root];
  for (let node = rest.pop(); rest.length > 0 || node !== undefined; node = rest.pop()) {
    if (!isCollection(node)) continue;
    const keys = new Set<unknown>();
    for (const item of node.items) {
      if (!isPair(item)) rest.push(item);
      else {
        const { key, value } = item;
        rest.push(key, value);
        if (!isScalar(key) || key.value === '<<') continue;
        if (keys.has(key.value)) offsets.push(offsetOf(key));
        keys.add(key.value);
      }
    }
  }
  return offsets;
}

function offsetOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

function locate(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function documentError(file: string, message: string): DocumentError {
  return new DocumentError(file, [{ message, path: '', line: 1, column: 1 }]);
}
