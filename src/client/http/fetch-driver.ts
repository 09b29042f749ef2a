/**
 * HTTP driver based on `fetch`, for Bun, Deno, browsers, workers and custom implementations.
 *
 * @module
 */
import {
  BodyTooLargeError,
  http2UnsupportedError,
  type HttpClient,
  type HttpDriverOptions,
  HttpTransportError,
  type HttpRequest,
  type HttpResponse,
} from './http-client.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { FetchLike } from '../../primitives/web/fetch-like.ts';

/** Creates an HTTP client from a `fetch` function. It cannot control name resolution, so egress policies check only the URL. */
export function fetchHttpClient(fetch: FetchLike): HttpClient {
  return {
    async request(request) {
      if (request.http2) throw http2UnsupportedError();
      const abort = new AbortController();
      const signal = request.signal ? AbortSignal.any([request.signal, abort.signal]) : abort.signal;
      const response = await callFetch(fetch, request, signal);
      // Browsers hide status and target of a redirect.
      if (response.type === 'opaqueredirect') throw redirectError(request);
      return new FetchResponse(response, abort);
    },
    close: () => Promise.resolve(),
  };
}

/** Creates the built-in driver of runtimes other than Node; see `imports` in package.json. */
function createFetchDriver({ tls }: HttpDriverOptions): HttpClient {
  if (tls)
    throw new A2AError('UNSUPPORTED_OPERATION', 'The option tls of connect() requires Node', {
      hint: 'Configure certificates in this runtime, or pass a `fetch` function that uses them.',
    });
  return fetchHttpClient((url, init) => globalThis.fetch(url, init));
}

export { createFetchDriver as createHttpDriver };

async function callFetch(fetch: FetchLike, request: HttpRequest, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(request.origin + request.path, {
      method: request.method,
      headers: request.headers,
      body: request.body as string | undefined,
      redirect: 'manual',
      signal,
    });
  } catch (thrown) {
    // fetch does not report whether the request was sent; only a refused connection or an unknown host is certain.
    const error = new HttpTransportError(thrown, true);
    if (error.code === 'ECONNREFUSED' || error.code === 'ENOTFOUND')
      throw new HttpTransportError(thrown, false);
    throw error;
  }
}

function redirectError({ origin, path }: HttpRequest): A2AError {
  return new A2AError('INVALID_AGENT_RESPONSE', `${origin}${path} redirects to another URL`, {
    hint: 'Browsers do not tell programs the target of a redirect. Use the URL that the agent redirects to.',
  });
}

class FetchResponse implements HttpResponse {
  readonly status: number;
  #response: Response;
  #abort: AbortController;

  constructor(response: Response, abort: AbortController) {
    this.#response = response;
    this.#abort = abort;
    this.status = response.status;
  }

  header(name: string): string | undefined {
    return this.#response.headers.get(name) ?? undefined;
  }

  headerNames(): readonly string[] {
    return [...this.#response.headers.keys()];
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
    this.#abort.abort(new Error('The response was discarded'));
  }
}
