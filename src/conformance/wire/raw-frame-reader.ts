import type { RawFrame } from './http-exchange.ts';

/** Takes the text of a stream of events apart, piece by piece. */
export class RawFrameReader {
  #rest = '';
  #fields: [string, string][] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** What is left that no blank line has ended. */
  get rest(): string {
    return this.#fields.length > 0 || this.#rest !== '' ? this.#rest || '…' : '';
  }

  /** Takes more text, and gives the frames that are complete. */
  push(text: string): RawFrame[] {
    const frames: RawFrame[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.#fields.push(fieldOf(line));
      else if (this.#fields.length > 0) frames.push(this.#take());
    }
    return frames;
  }

  #take(): RawFrame {
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

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon < 0) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}
