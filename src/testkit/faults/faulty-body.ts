import { truncateToHalf, overrideFields, padJson, corruptUtf8 } from './corrupt-json.ts';
import type { Fault } from './fault.ts';
import type { ResponseWriter } from './response-writer.ts';

/** An answer that is no stream and goes wrong on its way out. */
export class FaultyBody {
  readonly #line: ResponseWriter;
  readonly #faults: readonly Fault[];
  readonly #status: number;
  readonly #headers: readonly string[];
  #body = '';

  constructor(line: ResponseWriter, faults: readonly Fault[], status: number, headers: readonly string[]) {
    this.#line = line;
    this.#faults = faults;
    this.#status = status;
    this.#headers = headers;
  }

  write(chunk: string): boolean {
    this.#body += chunk;
    return true;
  }

  /** Everything is known, so it can go wrong. */
  end(): void {
    const body = this.#damaged();
    const fault = this.#faults.find(({ kind }) => breaks.has(kind));
    if (!fault || body.length === 0) {
      this.#head(body.length);
      this.#line.end(body);
      return;
    }
    if (fault.kind === 'half-frame') {
      this.#head(truncateToHalf(body).length);
      this.#line.end(truncateToHalf(body));
      return;
    }
    this.#head(body.length);
    this.#line.write(truncateToHalf(body));
    if (fault.kind === 'cut' || fault.kind === 'reset') this.#line[fault.kind]();
  }

  close(): void {}

  #head(length: number): void {
    // A 204 and a 304 have no body, and nothing about one.
    const isBare = length === 0 && !this.#headers.some((name) => name.toLowerCase() === 'content-length');
    const rest = removeHeaders(this.#headers, ['content-length', 'etag']);
    this.#line.head(this.#status, isBare ? rest : [...rest, 'Content-Length', String(length)]);
  }

  #damaged(): Buffer {
    let text = this.#body;
    if (text === '') return Buffer.alloc(0);
    for (const fault of this.#faults) {
      if (fault.kind === 'card') text = JSON.stringify(overrideFields(JSON.parse(text), fault.override));
      if (fault.kind === 'oversize') text = padJson(text, fault.bytes);
    }
    return this.#faults.some(({ kind }) => kind === 'bad-utf8') ? corruptUtf8(text) : Buffer.from(text);
  }
}

/** What ends an answer in its middle. */
const breaks: ReadonlySet<Fault['kind']> = new Set(['half-frame', 'cut', 'reset', 'silence', 'heartbeats']);

/** Headers (name, value, name, value) without some, whose names are given in lower case. */
export function removeHeaders(headers: readonly string[], names: readonly string[]): string[] {
  return headers.filter((_, at) => !names.includes((headers[at - (at % 2)] ?? '').toLowerCase()));
}
