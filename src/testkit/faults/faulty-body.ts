import { truncateToHalf, overrideFields, padJson, corruptUtf8 } from './corrupt-json.ts';
import type { Fault } from './fault.ts';
import type { ResponseWriter } from './response-writer.ts';

/** Body of a non-streaming response with injected faults. */
export class FaultyBody {
  readonly #writer: ResponseWriter;
  readonly #faults: readonly Fault[];
  readonly #status: number;
  readonly #headers: readonly string[];
  #body = '';

  constructor(writer: ResponseWriter, faults: readonly Fault[], status: number, headers: readonly string[]) {
    this.#writer = writer;
    this.#faults = faults;
    this.#status = status;
    this.#headers = headers;
  }

  write(chunk: string): boolean {
    this.#body += chunk;
    return true;
  }

  /** Sends the complete body with its faults. */
  end(): void {
    const body = this.#corruptedBody();
    const fault = this.#faults.find(({ kind }) => interruptingFaults.has(kind));
    if (!fault || body.length === 0) {
      this.#writeHead(body.length);
      this.#writer.end(body);
      return;
    }
    if (fault.kind === 'half-frame') {
      this.#writeHead(truncateToHalf(body).length);
      this.#writer.end(truncateToHalf(body));
      return;
    }
    this.#writeHead(body.length);
    this.#writer.write(truncateToHalf(body));
    if (fault.kind === 'disconnect' || fault.kind === 'reset') this.#writer[fault.kind]();
  }

  close(): void {}

  #writeHead(length: number): void {
    // Responses 204 and 304 have neither body nor Content-Length.
    const isBare = length === 0 && !this.#headers.some((name) => name.toLowerCase() === 'content-length');
    const rest = removeHeaders(this.#headers, ['content-length', 'etag']);
    this.#writer.writeHead(this.#status, isBare ? rest : [...rest, 'Content-Length', String(length)]);
  }

  #corruptedBody(): Buffer {
    let text = this.#body;
    if (text === '') return Buffer.alloc(0);
    for (const fault of this.#faults) {
      if (fault.kind === 'card') text = JSON.stringify(overrideFields(JSON.parse(text), fault.override));
      if (fault.kind === 'oversize') text = padJson(text, fault.bytes);
    }
    return this.#faults.some(({ kind }) => kind === 'bad-utf8') ? corruptUtf8(text) : Buffer.from(text);
  }
}

/** Faults that interrupt a body. */
const interruptingFaults: ReadonlySet<Fault['kind']> = new Set([
  'half-frame',
  'disconnect',
  'reset',
  'stall',
  'heartbeats',
]);

/** Removes headers from a flat list (name, value, …). @param names - in lower case */
export function removeHeaders(headers: readonly string[], names: readonly string[]): string[] {
  return headers.filter((_, index) => !names.includes((headers[index - (index % 2)] ?? '').toLowerCase()));
}
