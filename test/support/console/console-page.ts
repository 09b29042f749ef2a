import type { RunningConsole } from '../../../src/console/serve-console.ts';
import { streamSseFrames } from '../http/sse-frames.ts';

/** What the page does: asks with its token, and follows streams. */
export class ConsolePage {
  readonly #console: RunningConsole;

  constructor(running: RunningConsole) {
    this.#console = running;
  }

  /** Asks for anything; `path` is below `/api/`. */
  ask(path: string, init: RequestInit & { token?: string } = {}): Promise<Response> {
    const { token = this.#console.token, headers, ...rest } = init;
    return fetch(`${this.#console.origin}/api/${path}`, {
      ...rest,
      headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string>) },
    });
  }

  /** Asks for one document. */
  async call(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<any> {
    const response = await this.ask(path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return response.status === 204 ? undefined : response.json();
  }

  /** Follows a stream; leaving the loop hangs up. */
  async *follow(path: string, body?: unknown): AsyncGenerator<any> {
    const leaving = new AbortController();
    try {
      const response = await this.ask(path, {
        signal: leaving.signal,
        ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      });
      for await (const { data } of streamSseFrames(response)) yield data;
    } finally {
      leaving.abort();
    }
  }

  /** Follows a stream to its end. */
  async all(path: string, body?: unknown): Promise<any[]> {
    const found: any[] = [];
    for await (const each of this.follow(path, body)) found.push(each);
    return found;
  }
}
