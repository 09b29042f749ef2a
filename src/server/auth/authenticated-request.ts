import type { X509Certificate } from 'node:crypto';
import { CallerToken } from '../../protocol/agent.ts';
import {
  type AuthenticationResult,
  type HttpServerRequest,
  type RequestHeaders,
  singleHeader,
} from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** A request after authentication, without credentials. `authentication` is undefined for anonymous requests. */
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
    authentication: AuthenticationResult | undefined,
  ) {
    this.method = inner.method;
    this.path = inner.path;
    this.query = query;
    this.headers = headers;
    this.authentication = authentication;
    this.#inner = inner;
  }

  /** Read lazily, because the body may arrive after authentication. */
  get body(): string {
    return this.#inner.body;
  }

  get bodyLength(): number | undefined {
    return this.#inner.bodyLength;
  }

  get mountPath(): string | undefined {
    return this.#inner.mountPath;
  }

  /** Bearer token of an authenticated client, for agents to which the server passes it on. */
  get callerToken(): CallerToken | undefined {
    if (!this.authentication) return undefined;
    const authorization = singleHeader(this.#inner.headers, 'authorization') ?? '';
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
    return token === undefined ? undefined : new CallerToken(token);
  }

  get waitUntil(): HttpServerRequest['waitUntil'] {
    return this.#inner.waitUntil;
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

  get clientAddress(): string | undefined {
    return this.#inner.clientAddress;
  }

  get localAddress(): string | undefined {
    return this.#inner.localAddress;
  }

  get isAdmitted(): boolean {
    return this.#inner.isAdmitted ?? false;
  }

  set isAdmitted(isAdmitted: boolean) {
    this.#inner.isAdmitted = isAdmitted;
  }

  get telemetry(): RequestTelemetry | undefined {
    return this.#inner.telemetry;
  }

  set telemetry(telemetry: RequestTelemetry | undefined) {
    this.#inner.telemetry = telemetry;
  }

  onDisconnect(callback: () => void): void {
    this.#inner.onDisconnect(callback);
  }
}

/** Removes credentials from headers and query parameters before the request is passed on. */
export class CredentialFilter {
  readonly #headers: ReadonlySet<string>;
  readonly #query: ReadonlySet<string>;

  constructor(headers: Iterable<string>, query: Iterable<string>) {
    this.#headers = new Set(headers);
    this.#query = new Set(query);
  }

  /** Returns the request without credentials. */
  strip(request: HttpServerRequest, authentication: AuthenticationResult | undefined): AuthenticatedRequest {
    return new AuthenticatedRequest(
      request,
      this.#filterHeaders(request.headers),
      this.#filterQuery(request.query),
      authentication,
    );
  }

  #filterHeaders(headers: RequestHeaders): RequestHeaders {
    if (this.#headers.size === 0) return headers;
    const filtered: { [name: string]: string | string[] | undefined } = {};
    for (const name in headers) if (!this.#headers.has(name)) filtered[name] = headers[name];
    return filtered;
  }

  #filterQuery(query: string): string {
    if (query === '' || this.#query.size === 0) return query;
    const params = new URLSearchParams(query);
    for (const name of this.#query) params.delete(name);
    return params.toString();
  }
}
