import type { RunningConsole } from '../../../src/console/serve-console.ts';
import { collectStream } from '../collect-stream.ts';
import { streamSseFrames } from '../http/sse-frames.ts';

/** Calls the console API with the console token, as the page does. */
export class ConsolePage {
  readonly #console: Pick<RunningConsole, 'origin' | 'token'>;

  constructor(running: Pick<RunningConsole, 'origin' | 'token'>) {
    this.#console = running;
  }

  /** Sends a request. @param path - relative to `/api/` */
  request(path: string, init: RequestInit & { token?: string } = {}): Promise<Response> {
    const { token = this.#console.token, headers, ...rest } = init;
    return fetch(`${this.#console.origin}/api/${path}`, {
      ...rest,
      headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    });
  }

  /** Sends a request and returns the JSON body, or undefined for 204. */
  async requestJson(
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
  ): Promise<any> {
    const response = await this.request(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.status === 204 ? undefined : response.json();
  }

  /** Returns the events of an SSE stream; breaking out of the loop aborts the request. */
  async *stream(path: string, body?: unknown): AsyncGenerator<any> {
    const abort = new AbortController();
    try {
      const response = await this.request(path, {
        signal: abort.signal,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      for await (const { data } of streamSseFrames(response)) yield data;
    } finally {
      abort.abort();
    }
  }

  /** Returns all events of an SSE stream. */
  collect(path: string, body?: unknown): Promise<any[]> {
    return collectStream(this.stream(path, body));
  }
}
