import type { Call, Principal } from '../../protocol/agent.ts';
import type { Version } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Exchange, Headers } from '../http/http-message.ts';
import { readExtensions } from '../http/extensions.ts';

/** A call that came over HTTP. */
export class HttpCall implements Call {
  readonly version: Version;
  readonly tenant: string | undefined;
  readonly extensions: readonly string[] | undefined;
  readonly #exchange: Exchange;
  #owner: string | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(exchange: Exchange, version: Version, tenant: string | undefined) {
    this.version = version;
    this.tenant = tenant;
    this.extensions = readExtensions(exchange.headers);
    this.#exchange = exchange;
  }

  get principal(): Principal | undefined {
    return this.#exchange.caller?.principal;
  }

  /** What one caller does for one tenant is nobody else's. */
  get owner(): string {
    return (this.#owner ??= ownerOf(this.principal, this.tenant));
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

/** One text for each caller and tenant, whatever their names are made of. Nobody for no tenant owns what nobody claimed. */
function ownerOf(principal: Principal | undefined, tenant: string | undefined): string {
  if (principal === undefined && tenant === undefined) return '';
  return JSON.stringify([principal?.issuer ?? null, principal?.id ?? null, tenant ?? null]);
}
