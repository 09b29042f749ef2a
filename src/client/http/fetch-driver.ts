/**
 * HTTP by `fetch`, for browsers, workers and whoever brings their own.
 *
 * @module
 */
import {
  BodyTooLargeError,
  type HttpClient,
  HttpTransportError,
  type HttpRequest,
  type HttpResponse,
} from './http-client.ts';

/** The part of `fetch` that is used. */
export type FetchLike = (url: string, init: RequestInit) => Promise<Response>;

/** Makes a driver out of a `fetch` function. It has no hand in where names lead, so policies see the URL only. */
export function fetchHttpClient(fetch: FetchLike): HttpClient {
  return {
    async request(request) {
      const stop = new AbortController();
      const signal = request.signal ? AbortSignal.any([request.signal, stop.signal]) : stop.signal;
      return new FetchAnswer(await ask(fetch, request, signal), stop);
    },
    close: () => Promise.resolve(),
  };
}

async function ask(fetch: FetchLike, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(request.origin + request.path, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      redirect: 'manual',
      signal,
    });
  } catch (thrown) {
    // fetch does not say how far it came; only a refused or unknown address is certain.
    const failure = new HttpTransportError(thrown, true);
    if (failure.code === 'ECONNREFUSED' || failure.code === 'ENOTFOUND')
      throw new HttpTransportError(thrown, false);
    throw failure;
  }
}

class FetchAnswer implements HttpResponse {
  readonly status: number;
  #response: Response;
  #stop: AbortController;

  constructor(response: Response, stop: AbortController) {
    this.#response = response;
    this.#stop = stop;
    this.status = response.status;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  async text(limit: number): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    let size = 0;
    for await (const chunk of this.chunks()) {
      size += chunk.length;
      if (size > limit) throw new BodyTooLargeError(`more than ${limit} bytes`);
      text += decoder.decode(chunk, { stream: true });
    }
    return text + decoder.decode();
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    const reader = this.#response.body?.getReader();
    if (!reader) return;
    let done = false;
    try {
      for (;;) {
        const next = await reader.read();
        if (next.done) break;
        yield next.value as Uint8Array;
      }
      done = true;
    } catch (thrown) {
      done = true;
      throw new HttpTransportError(thrown, true);
    } finally {
      if (!done) this.discard();
    }
  }

  discard(): void {
    this.#stop.abort(new Error('The reader left'));
  }
}
