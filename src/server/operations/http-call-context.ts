import type { CallContext, Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import { requestedExtensions } from '../http/extensions.ts';

/** A call that came over HTTP. */
export class HttpCallContext implements CallContext {
  readonly version: ProtocolVersion;
  readonly tenant: string | undefined;
  readonly extensions: readonly string[] | undefined;
  readonly #exchange: HttpServerRequest;
  #owner: string | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(exchange: HttpServerRequest, version: ProtocolVersion, tenant: string | undefined) {
    this.version = version;
    this.tenant = tenant;
    this.extensions = requestedExtensions(exchange.headers);
    this.#exchange = exchange;
  }

  get principal(): Principal | undefined {
    return this.#exchange.authentication?.principal;
  }

  /** What one caller does for one tenant is nobody else's. */
  get owner(): string {
    return (this.#owner ??= ownerOf(this.principal, this.tenant));
  }

  get headers(): RequestHeaders {
    return this.#exchange.headers;
  }

  /** Made when somebody first looks: an agent that runs here does not, because the task outlives the connection. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#exchange.onDisconnect(() => controller.abort(new A2AError('CANCELED')));
    }
    return this.#controller.signal;
  }
}

/** One text for each caller and tenant, whatever their names are made of. Nobody for no tenant owns what nobody claimed. */
function ownerOf(principal: Principal | undefined, tenant: string | undefined): string {
  if (principal === undefined && tenant === undefined) return '';
  return JSON.stringify([principal?.issuer ?? null, principal?.id ?? null, tenant ?? null]);
}
