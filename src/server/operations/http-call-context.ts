import type { CallContext, Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import { AuthenticatedRequest } from '../auth/authenticated-request.ts';
import { requestedExtensions } from '../http/extensions.ts';

/** Call context of an HTTP request. Its identity is in members of its own, so that `{ ...call }` keeps it. */
export class HttpCallContext implements CallContext {
  readonly version: ProtocolVersion;
  readonly preview: CallContext['preview'];
  readonly tenant: string | undefined;
  readonly extensions: readonly string[] | undefined;
  readonly principal: Principal | undefined;
  /** Tasks are isolated by principal and tenant. */
  readonly owner: string;
  readonly callerToken: CallContext['callerToken'] = undefined;
  readonly headers: RequestHeaders;
  readonly waitUntil: CallContext['waitUntil'];
  readonly #request: HttpServerRequest;
  #controller: AbortController | undefined = undefined;

  constructor(
    request: HttpServerRequest,
    version: ProtocolVersion,
    tenant: string | undefined,
    preview?: CallContext['preview'],
    passToken = false,
  ) {
    this.version = version;
    this.preview = preview;
    this.tenant = tenant;
    this.extensions = requestedExtensions(request.headers);
    this.principal = request.authentication?.principal;
    this.owner = encodeOwner(this.principal, tenant);
    if (passToken && request instanceof AuthenticatedRequest) this.callerToken = request.callerToken;
    this.headers = request.headers;
    this.waitUntil = request.waitUntil;
    this.#request = request;
  }

  /** Created on first access. Local agents never read it, because the task outlives the connection. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController();
      this.#controller = controller;
      this.#request.onDisconnect(() => controller.abort(new A2AError('CANCELED')));
    }
    return this.#controller.signal;
  }
}

/** Encodes principal and tenant unambiguously; `''` is the owner without both. */
function encodeOwner(principal: Principal | undefined, tenant: string | undefined): string {
  if (principal === undefined && tenant === undefined) return '';
  return JSON.stringify([principal?.issuer ?? null, principal?.id ?? null, tenant ?? null]);
}
