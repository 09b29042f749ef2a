import type { Call } from '../protocol/agent.ts';
import type { Version } from '../protocol/card.ts';
import { A2AError } from '../protocol/errors.ts';
import type { Exchange, Headers } from './exchange.ts';
import { readExtensions } from './extensions.ts';

/** A call that came over HTTP. */
export class HttpCall implements Call {
  readonly version: Version;
  readonly tenant: string | undefined;
  readonly extensions: readonly string[] | undefined;
  readonly #exchange: Exchange;
  readonly #principal: string;
  #controller: AbortController | undefined = undefined;

  constructor(exchange: Exchange, version: Version, tenant: string | undefined, principal = '') {
    this.version = version;
    this.tenant = tenant;
    this.extensions = readExtensions(exchange.headers);
    this.#exchange = exchange;
    this.#principal = principal;
  }

  /** What one caller does for one tenant is nobody else's. */
  get owner(): string {
    return this.tenant === undefined ? this.#principal : `${this.#principal}\u0001${this.tenant}`;
  }

  get headers(): Headers {
    return this.#exchange.headers;
  }

  /** Made when somebody first looks: an agent that runs here does not, because the task outlives the connection. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#exchange.onGone(() => controller.abort(new A2AError('CANCELED')));
    }
    return this.#controller.signal;
  }
}
