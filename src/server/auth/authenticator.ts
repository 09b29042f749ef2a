import type { Operation, Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest } from '../http/http-message.ts';

/** A value at once, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** What an authenticator may look at: everything but the body, which is not there yet. */
export type AuthenticationInput = Omit<HttpServerRequest, 'body' | 'caller'>;

/** Where callers put their secrets, so that nobody behind the gate sees them. */
export interface CredentialLocations {
  /** Lower-case names of headers. `authorization`, `proxy-authorization` and `cookie` are hidden anyway. */
  readonly headers?: readonly string[];
  /** Names of query parameters. */
  readonly query?: readonly string[];
}

/** One way to prove who calls. */
export interface Authenticator {
  /** What the card says about it, by name. Several schemes are all needed together. */
  readonly schemes: { readonly [name: string]: SecurityScheme };
  /** The scopes that every caller needs. */
  readonly scopes?: readonly string[];
  readonly credentialLocations?: CredentialLocations;
  /**
   * Says who calls.
   *
   * @returns undefined when the request has no credentials of this kind.
   * @throws {@link A2AError} `UNAUTHENTICATED` when it has bad ones.
   */
  authenticate(head: AuthenticationInput): MaybePromise<Principal | undefined>;
}

/** What a caller wants to do. */
export interface AuthorizationRequest {
  readonly operation: Operation;
  /** The skill that the request names, if it names one. */
  readonly skillId?: string;
  readonly tenant?: string;
  /** The request in the words of the model. */
  readonly request: unknown;
}

/** Who may call, and what for. */
export interface AuthOptions {
  /** The ways to prove who calls; one is enough. */
  authenticators: readonly Authenticator[];
  /**
   * Lets callers without credentials in. Bad credentials are refused all the same.
   * @defaultValue false
   */
  allowAnonymous?: boolean;
  /** What a 401 calls this place. @defaultValue `a2a` */
  realm?: string;
  /**
   * Decides whether a caller may do what it asks for, before anything is looked up.
   * `principal` is undefined only if {@link AuthOptions.allowAnonymous}.
   */
  authorize?: (principal: Principal | undefined, intent: AuthorizationRequest) => MaybePromise<boolean>;
  /**
   * Shows agents the headers that credentials come in.
   * @defaultValue false
   */
  exposeCredentials?: boolean;
  /** Hears of everybody who was refused; the hint of the error says why. */
  onDenied?: (error: A2AError, exchange: HttpServerRequest) => void;
}

/** The name of a scheme and what people should know of it. */
export interface SchemeLabel {
  /** The name of the scheme in the card. */
  scheme?: string;
  description?: string;
}

/** The one scheme of an authenticator, under the name it is to have. */
export function singleScheme(
  { scheme, description }: SchemeLabel,
  name: string,
  declared: SecurityScheme,
): { readonly [name: string]: SecurityScheme } {
  return { [scheme ?? name]: description === undefined ? declared : { ...declared, description } };
}
