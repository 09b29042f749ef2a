import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import type { RequestHead } from './parse-head.ts';

/** One plain request, as it was read from its connection. */
export class FastPathRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly isSecure = false;
  body: string;
  telemetry: RequestTelemetry | undefined = undefined;
  #from: { readonly remoteAddress?: string | undefined } | undefined;
  #onGone: (() => void)[] | undefined = undefined;

  /**
   * @param from - the connection, which is asked for its address if anybody wants to know.
   */
  constructor(
    { method, target, headers }: RequestHead,
    body: string,
    from: { remoteAddress?: string | undefined },
  ) {
    const mark = target.indexOf('?');
    this.method = method;
    this.path = mark < 0 ? target : target.slice(0, mark);
    this.query = mark < 0 ? '' : target.slice(mark + 1);
    this.headers = headers;
    this.body = body;
    this.#from = from;
  }

  get remoteAddress(): string | undefined {
    return this.#from?.remoteAddress;
  }

  onDisconnect(callback: () => void): void {
    if (this.#from) (this.#onGone ??= []).push(callback);
  }

  /** The caller left before it had its answer, which is finished and counted all the same. */
  gone(): void {
    const callbacks = this.#onGone ?? [];
    this.#from = undefined;
    this.#onGone = undefined;
    for (const callback of callbacks) callback();
  }

  /** Lets go of what only answering needs, because a stream may stay open for hours. */
  shrink(): void {
    this.body = '';
    this.telemetry = undefined;
  }

  /** Lets go of the connection: a task may outlive it by hours, and holds the call that it came with. */
  release(): void {
    this.shrink();
    this.#from = undefined;
    this.#onGone = undefined;
  }
}
