import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { Operation, Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest } from '../http/http-message.ts';

/** Input of an authenticator: the request without body, which has not been read yet. */
export type AuthenticationInput = Omit<HttpServerRequest, 'body' | 'authentication'>;

/** Where clients send credentials; they are removed from the request after authentication. */
export interface CredentialLocations {
  /** Lower-case header names. `authorization`, `proxy-authorization` and `cookie` are always removed. */
  readonly headers?: readonly string[];
  /** Query parameter names. */
  readonly query?: readonly string[];
}

/** Verifies one kind of credentials. */
export interface Authenticator {
  /** Security schemes of the card, by name. If there are several, all of them are required together. */
  readonly schemes: { readonly [name: string]: SecurityScheme };
  /** Scopes that every client needs. */
  readonly scopes?: readonly string[];
  readonly credentialLocations?: CredentialLocations;
  /**
   * Authenticates a request.
   *
   * @returns undefined if the request has no credentials of this kind.
   * @throws {@link A2AError} `UNAUTHENTICATED` if the credentials are invalid.
   */
  authenticate(head: AuthenticationInput): MaybePromise<Principal | undefined>;
}

/** Input of `authorize()`. */
export interface AuthorizationRequest {
  readonly operation: Operation;
  /** Skill that the request names in its metadata. */
  readonly skillId?: string;
  readonly tenant?: string;
  /** The version-neutral request. */
  readonly request: unknown;
}

/** Options of authentication and authorization. */
export interface AuthOptions {
  /** Authenticators, tried in order; one must succeed. */
  authenticators: readonly Authenticator[];
  /**
   * Accepts requests without credentials. Invalid credentials are still rejected.
   * @defaultValue false
   */
  allowAnonymous?: boolean;
  /** Realm of challenges. @defaultValue `a2a` */
  realm?: string;
  /**
   * Authorizes an operation before it is executed. `principal` is undefined only with
   * {@link AuthOptions.allowAnonymous}.
   */
  authorize?: (principal: Principal | undefined, request: AuthorizationRequest) => MaybePromise<boolean>;
  /**
   * Passes credential headers on to agents.
   * @defaultValue false
   */
  exposeCredentials?: boolean;
  /** Called for every rejected request; the hint of the error contains the reason. */
  onDenied?: (error: A2AError, request: HttpServerRequest) => void;
}

/** Name and description of a security scheme. */
export interface SchemeLabel {
  /** Name of the scheme in the card. */
  scheme?: string;
  description?: string;
}

/** Returns the `schemes` of an authenticator with one scheme; `name` is the default name. */
export function singleScheme(
  { scheme, description }: SchemeLabel,
  name: string,
  declared: SecurityScheme,
): { readonly [name: string]: SecurityScheme } {
  return { [scheme ?? name]: description === undefined ? declared : { ...declared, description } };
}
