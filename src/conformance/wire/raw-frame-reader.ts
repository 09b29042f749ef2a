import type { RawFrame } from './http-exchange.ts';

/**
 * Splits the text of an SSE stream into frames. It is separate from the parser of the client, so that the suite shares
 * no code with the product.
 */
export class RawFrameReader {
  #rest = '';
  #fields: [string, string][] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Appends text and returns the frames that it completes. */
  push(text: string): RawFrame[] {
    const frames: RawFrame[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.#fields.push(parseField(line));
      else if (this.#fields.length > 0) frames.push(this.#takeFrame());
    }
    return frames;
  }

  #takeFrame(): RawFrame {
    const fields = this.#fields;
    this.#fields = [];
    const all = (name: string): string[] =>
      fields.filter(([each]) => each === name).map(([, value]) => value);
    const data = all('data');
    return {
      fields,
      data: data.length > 0 ? data.join('\n') : undefined,
      id: all('id').at(-1),
      event: all('event').at(-1),
      at: this.#now(),
    };
  }
}

function parseField(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}
