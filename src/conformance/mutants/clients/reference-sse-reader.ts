import type { ClientFlaw } from './client-flaws.ts';
import { ClientFailureError } from './client-failure.ts';

/** Reads server-sent events as their specification says, unless it has a flaw. */
export class ReferenceSseReader {
  readonly #has: (flaw: ClientFlaw) => boolean;
  /** The start of the line that is not complete, in pieces, so that each character is searched once. */
  #rest: string[] = [];
  #restLength = 0;
  /** A carriage return at the end of the last text: a line feed may follow. */
  #heldReturn = '';
  #data: string[] = [];
  #isStart = true;

  constructor(has: (flaw: ClientFlaw) => boolean) {
    this.#has = has;
  }

  /** @throws ClientFailureError if the pending event is too large */
  checkSize(maxLength: number): void {
    const length = this.#restLength + this.#data.reduce((sum, line) => sum + line.length, 0);
    if (length > maxLength && !this.#has('reads-without-limit'))
      throw new ClientFailureError('An event is too large');
  }

  /** Appends text and returns the data of the events that it completes. */
  push(text: string): string[] {
    if (this.#has('parses-each-chunk')) return parseChunk(text);
    let added = this.#heldReturn + text;
    if (this.#restLength + added.length > 64 * 1_024 * 1_024) {
      this.#dropRest();
      added = '';
    }
    if (this.#isStart && added !== '') {
      this.#isStart = false;
      if (added.startsWith('\uFEFF') && !this.#has('keeps-byte-order-mark')) added = added.slice(1);
    }
    const needsLineFeed = this.#has('splits-at-line-feeds');
    this.#heldReturn = !needsLineFeed && added.endsWith('\r') ? '\r' : '';
    const complete = this.#heldReturn === '' ? added : added.slice(0, -1);
    const lines = complete.split(needsLineFeed ? '\n' : /\r\n?|\n/);
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      lines[0] = this.#rest.join('') + lines[0];
      this.#dropRest();
    }
    this.#rest.push(last);
    this.#restLength += last.length;
    return lines.flatMap((line) => this.#line(line));
  }

  #dropRest(): void {
    this.#rest = [];
    this.#restLength = 0;
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
