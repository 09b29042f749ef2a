/** A place in a text; lines and columns start at 1. */
export interface TextPosition {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** Parsed JSON with the offsets of all values, or the first syntax error. */
export type LocatedJson =
  | { readonly value: unknown; offsetOf(path: readonly (string | number)[]): number | undefined }
  | { readonly message: string; readonly offset: number };

const maxDepth = 1_000;
const spaces = /[ \t\r\n]*/y;
const literal =
  /"(?:[^"\\\p{Cc}]|[\u007F-\u009F]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy;

class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Parses JSON and remembers where each value starts. A member starts at its name. */
export function locateJson(text: string): LocatedJson {
  try {
    const locator = new JsonLocator(text);
    locator.read();
    return { value: JSON.parse(text), offsetOf: (path) => locator.offsets.get(JSON.stringify(path)) };
  } catch (thrown) {
    if (thrown instanceof JsonSyntaxError) return { message: thrown.message, offset: thrown.offset };
    return { message: thrown instanceof Error ? thrown.message : 'Invalid JSON', offset: 0 };
  }
}

class JsonLocator {
  readonly #text: string;
  #at = 0;
  readonly offsets = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  read(): void {
    this.#value([]);
    this.#skipSpaces();
    if (this.#at < this.#text.length) this.#fail('Text after the end of the JSON');
  }

  #value(path: readonly (string | number)[], start?: number): void {
    this.#skipSpaces();
    this.offsets.set(JSON.stringify(path), start ?? this.#at);
    if (path.length > maxDepth) this.#fail('The JSON is nested too deeply');
    const next = this.#text[this.#at];
    if (next === '{') this.#object(path);
    else if (next === '[') this.#list(path);
    else this.#literal('a value');
  }

  #object(path: readonly (string | number)[]): void {
    this.#at++;
    if (this.#take('}')) return;
    for (;;) {
      this.#skipSpaces();
      const start = this.#at;
      if (this.#text[start] !== '"') this.#fail('Expected a member name in double quotes');
      const name = JSON.parse(this.#literal('a member name')) as string;
      if (!this.#take(':')) this.#fail('Expected ":" after the member name');
      this.#value([...path, name], start);
      if (this.#take('}')) return;
      if (!this.#take(',')) this.#fail('Expected "," or "}"');
    }
  }

  #list(path: readonly (string | number)[]): void {
    this.#at++;
    if (this.#take(']')) return;
    for (let index = 0; ; index++) {
      this.#value([...path, index]);
      if (this.#take(']')) return;
      if (!this.#take(',')) this.#fail('Expected "," or "]"');
    }
  }

  #literal(expected: string): string {
    literal.lastIndex = this.#at;
    const [found] = literal.exec(this.#text) ?? [];
    if (found === undefined) this.#fail(`Expected ${expected}`);
    this.#at += found.length;
    return found;
  }

  #take(character: string): boolean {
    this.#skipSpaces();
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #skipSpaces(): void {
    spaces.lastIndex = this.#at;
    spaces.exec(this.#text);
    this.#at = spaces.lastIndex;
  }

  #fail(message: string): never {
    throw new JsonSyntaxError(message, this.#at);
  }
}

/** Returns line and column of an offset. */
export function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const line = before.split('\n').length;
  return { offset, line, column: offset - before.lastIndexOf('\n') };
}

/** Parses a field path of an error, such as `message.parts[0].text`. */
export function parseFieldPath(field: string): (string | number)[] {
  return [...field.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([name, index]) =>
    index === undefined ? name : Number(index),
  );
}
