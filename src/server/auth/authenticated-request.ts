import type { X509Certificate } from 'node:crypto';
import type { Caller, Exchange, Headers } from '../http/http-message.ts';
import type { Visit } from '../telemetry/request-telemetry.ts';

/** An exchange that passed the gate: its caller is known, or need not be, and its secrets are gone. */
export class AdmittedExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Headers;
  readonly caller: Caller | undefined;
  readonly #inner: Exchange;

  constructor(inner: Exchange, headers: Headers, query: string, caller: Caller | undefined) {
    this.method = inner.method;
    this.path = inner.path;
    this.query = query;
    this.headers = headers;
    this.caller = caller;
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

  get visit(): Visit | undefined {
    return this.#inner.visit;
  }

  set visit(visit: Visit | undefined) {
    this.#inner.visit = visit;
  }

  onGone(callback: () => void): void {
    this.#inner.onGone(callback);
  }
}

/** Knows where secrets are, and takes them out of what is handed on. */
export class Curtain {
  readonly #headers: ReadonlySet<string>;
  readonly #query: ReadonlySet<string>;

  constructor(headers: Iterable<string>, query: Iterable<string>) {
    this.#headers = new Set(headers);
    this.#query = new Set(query);
  }

  /** The exchange as those behind the gate may see it. */
  hide(exchange: Exchange, caller: Caller | undefined): AdmittedExchange {
    return new AdmittedExchange(exchange, this.#shown(exchange.headers), this.#asked(exchange.query), caller);
  }

  #shown(headers: Headers): Headers {
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
