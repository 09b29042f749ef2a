import type { X509Certificate } from 'node:crypto';
import type { AuthenticationResult, HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** An exchange that passed the gate: its caller is known, or need not be, and its secrets are gone. */
export class AuthenticatedRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: RequestHeaders;
  readonly authentication: AuthenticationResult | undefined;
  readonly #inner: HttpServerRequest;

  constructor(
    inner: HttpServerRequest,
    headers: RequestHeaders,
    query: string,
    caller: AuthenticationResult | undefined,
  ) {
    this.method = inner.method;
    this.path = inner.path;
    this.query = query;
    this.headers = headers;
    this.authentication = caller;
    this.#inner = inner;
  }

  /** It may come after the caller was let in. */
  get body(): string {
    return this.#inner.body;
  }

  get isSecure(): boolean {
    return this.#inner.isSecure;
  }

  get certificate(): X509Certificate | undefined {
    return this.#inner.certificate;
  }

  get remoteAddress(): string | undefined {
    return this.#inner.remoteAddress;
  }

  get telemetry(): RequestTelemetry | undefined {
    return this.#inner.telemetry;
  }

  set telemetry(visit: RequestTelemetry | undefined) {
    this.#inner.telemetry = visit;
  }

  onDisconnect(callback: () => void): void {
    this.#inner.onDisconnect(callback);
  }
}

/** Knows where secrets are, and takes them out of what is handed on. */
export class CredentialFilter {
  readonly #headers: ReadonlySet<string>;
  readonly #query: ReadonlySet<string>;

  constructor(headers: Iterable<string>, query: Iterable<string>) {
    this.#headers = new Set(headers);
    this.#query = new Set(query);
  }

  /** The exchange as those behind the gate may see it. */
  strip(exchange: HttpServerRequest, caller: AuthenticationResult | undefined): AuthenticatedRequest {
    return new AuthenticatedRequest(
      exchange,
      this.#shown(exchange.headers),
      this.#asked(exchange.query),
      caller,
    );
  }

  #shown(headers: RequestHeaders): RequestHeaders {
    if (this.#headers.size === 0) return headers;
    const shown: { [name: string]: string | string[] | undefined } = {};
    for (const name in headers) if (!this.#headers.has(name)) shown[name] = headers[name];
    return shown;
  }

  #asked(query: string): string {
    if (query === '' || this.#query.size === 0) return query;
    const params = new URLSearchParams(query);
    for (const name of this.#query) params.delete(name);
    return params.toString();
  }
}
