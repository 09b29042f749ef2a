import type { RawRequest } from '../../wire/raw-http-client.ts';
import type { ClientFlaw } from './client-flaws.ts';
import { ClientCrashError, ClientFailureError, ConnectionFailureError } from './client-failure.ts';
import { ReferenceSseReader } from './reference-sse-reader.ts';

/** A response of JSON over HTTP. */
export interface ReferenceResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Empty for a stream. */
  readonly text: string;
  /** True if the connection broke within the stream. */
  readonly isBroken: boolean;
}

const maxBytes = 4 * 1_024 * 1_024;

/** HTTP of the reference client: bounded, without redirections. */
export class ReferenceHttp {
  readonly #has: (flaw: ClientFlaw) => boolean;
  readonly #signal: AbortSignal;

  constructor(has: (flaw: ClientFlaw) => boolean, signal: AbortSignal) {
    this.#has = has;
    this.#signal = signal;
  }

  /**
   * Sends a request and reads the response. Events of a stream are passed to `onEvent` until it returns true.
   *
   * @throws ClientFailureError if there is no response, or an incomplete one that is not a stream
   */
  async send(request: RawRequest, onEvent?: (data: string) => boolean): Promise<ReferenceResponse> {
    const stop = new AbortController();
    const response = await this.#fetch(request, AbortSignal.any([this.#signal, stop.signal]));
    const { status, headers } = response;
    const isStream = (headers.get('content-type') ?? '').startsWith('text/event-stream');
    const sse = new ReferenceSseReader(this.#has);
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    let text = '';
    let bytes = 0;
    try {
      for await (const chunk of response.body ?? []) {
        bytes += (chunk as Uint8Array).length;
        if (bytes > maxBytes && !this.#has('reads-without-limit') && !this.#has('crashes-when-large')) {
          stop.abort();
          throw new ClientFailureError('The response is too large');
        }
        const piece = this.#has('decodes-each-chunk')
          ? new TextDecoder().decode(chunk as Uint8Array)
          : decoder.decode(chunk as Uint8Array, { stream: true });
        if (!isStream || !onEvent) {
          if (bytes <= maxBytes) text += piece;
          continue;
        }
        sse.checkSize(maxBytes);
        for (const data of sse.push(piece))
          if (onEvent(data)) {
            stop.abort();
            return { status, headers, text: '', isBroken: false };
          }
      }
    } catch (error) {
      if (error instanceof ClientFailureError || error instanceof ClientCrashError) throw error;
      if (isStream) return { status, headers, text: '', isBroken: true };
      if (!this.#has('ignores-truncation')) throw new ClientFailureError('The connection broke');
      text = '{"jsonrpc":"2.0","result":{"task":{"id":"x","status":{"state":"completed"}}}}';
    }
    if (bytes > 8 * maxBytes && this.#has('crashes-when-large')) throw new ClientCrashError();
    return { status, headers, text, isBroken: false };
  }

  async #fetch(request: RawRequest, signal: AbortSignal): Promise<Response> {
    const { method, url, headers = {}, body } = request;
    try {
      const isImpatient = this.#has('impatient') && method === 'POST';
      const response = await fetch(url, {
        method,
        headers,
        ...(body === undefined ? {} : { body: body as string }),
        redirect: 'manual',
        signal: isImpatient ? AbortSignal.timeout(500) : signal,
      });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return response;
      if (!this.#has('redirects-with-credentials') && !this.#has('redirects-without-end')) return response;
      await response.body?.cancel();
      return await this.#fetch({ ...request, url: new URL(location, url).href }, signal);
    } catch (error) {
      if (this.#has('impatient') && method === 'POST' && !signal.aborted) return this.#fetch(request, signal);
      throw new ConnectionFailureError(
        `${url} cannot be reached: ${String((error as Error).cause ?? error)}`,
      );
    }
  }
}
