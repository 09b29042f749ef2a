import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import type { RequestHead } from './request-head-parser.ts';

/** Addresses of a connection. */
interface SocketAddresses {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
}

/** A request that was parsed on the fast path. */
export class FastPathRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly isSecure = false;
  body: string;
  telemetry: RequestTelemetry | undefined = undefined;
  isAdmitted = false;
  clientAddress: string | undefined = undefined;
  #socket: SocketAddresses | undefined;
  #disconnectCallbacks: (() => void)[] | undefined = undefined;

  /** @param socket - its addresses are read on demand. */
  constructor({ method, target, headers }: RequestHead, body: string, socket: SocketAddresses) {
    const queryStart = target.indexOf('?');
    this.method = method;
    this.path = queryStart < 0 ? target : target.slice(0, queryStart);
    this.query = queryStart < 0 ? '' : target.slice(queryStart + 1);
    this.headers = headers;
    this.body = body;
    this.#socket = socket;
  }

  get remoteAddress(): string | undefined {
    return this.#socket?.remoteAddress;
  }

  get localAddress(): string | undefined {
    return this.#socket?.localAddress;
  }

  onDisconnect(callback: () => void): void {
    if (this.#socket) (this.#disconnectCallbacks ??= []).push(callback);
  }

  /** Called when the client disconnects before the response is complete. */
  disconnected(): void {
    const callbacks = this.#disconnectCallbacks ?? [];
    this.#socket = undefined;
    this.#disconnectCallbacks = undefined;
    for (const callback of callbacks) callback();
  }

  /** Frees members that are not needed by a stream, which may stay open for hours. */
  shrink(): void {
    this.body = '';
    this.telemetry = undefined;
  }

  /** Releases the connection: a task may reference this request long after the connection has closed. */
  release(): void {
    this.shrink();
    this.#socket = undefined;
    this.#disconnectCallbacks = undefined;
  }
}
