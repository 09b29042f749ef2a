import type { ClientFlaw } from './client-flaws.ts';
import { ClientFailureError } from './client-failure.ts';

/** Reads server-sent events as their specification says, unless it has a flaw. */
export class ReferenceSseReader {
  readonly #has: (flaw: ClientFlaw) => boolean;
  #rest = '';
  #data: string[] = [];
  #isStart = true;

  constructor(has: (flaw: ClientFlaw) => boolean) {
    this.#has = has;
  }

  /** @throws ClientFailureError if the pending event is too large */
  checkSize(maxLength: number): void {
    const length = this.#rest.length + this.#data.reduce((sum, line) => sum + line.length, 0);
    if (length > maxLength && !this.#has('reads-without-limit'))
      throw new ClientFailureError('An event is too large');
  }

  /** Appends text and returns the data of the events that it completes. */
  push(text: string): string[] {
    if (this.#has('parses-each-chunk')) return parseChunk(text);
    let all = this.#rest + text;
    if (all.length > 64 * 1_024 * 1_024) all = '';
    if (this.#isStart && all !== '') {
      this.#isStart = false;
      if (all.startsWith('\uFEFF') && !this.#has('keeps-byte-order-mark')) all = all.slice(1);
    }
    const lines = all.split(this.#has('splits-at-line-feeds') ? /\n/ : /\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    return lines.flatMap((line) => this.#line(line));
  }

  #line(line: string): string[] {
    if (line === '') {
      const data = this.#data;
      this.#data = [];
      return data.length > 0 ? [data.join('\n')] : [];
    }
    if (line.startsWith(':')) {
      if (this.#has('rejects-comments')) throw new ClientFailureError('Invalid line in a stream');
      return [];
    }
    const prefix = this.#has('needs-space-after-colon') ? 'data: ' : 'data:';
    if (!line.startsWith(prefix)) return [];
    const value = line.slice(prefix.length);
    const text = value.startsWith(' ') ? value.slice(1) : value;
    if (this.#has('parses-each-data-line')) return [text];
    this.#data.push(text);
    return [];
  }
}

function parseChunk(text: string): string[] {
  return text.split('\n\n').flatMap((event) => (event.startsWith('data:') ? [event.slice(5)] : []));
}
