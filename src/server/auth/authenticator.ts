import type { Operation, Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { Exchange } from '../http/http-message.ts';

/** A value at once, or a promise of it. */
export type Maybe<T> = T | Promise<T>;

/** What an authenticator may look at: everything but the body, which is not there yet. */
export type Head = Omit<Exchange, 'body' | 'caller'>;

/** Where callers put their secrets, so that nobody behind the gate sees them. */
export interface Secrets {
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
  readonly secrets?: Secrets;
  /**
   * Says who calls.
   *
   * @returns undefined when the request has no credentials of this kind.
   * @throws {@link A2AError} `UNAUTHENTICATED` when it has bad ones.
   */
  authenticate(head: Head): Maybe<Principal | undefined>;
}

/** What a caller wants to do. */
export interface Intent {
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
  any: readonly Authenticator[];
  /**
   * Lets callers without credentials in. Bad credentials are refused all the same.
   * @defaultValue false
   */
  isOptional?: boolean;
  /** What a 401 calls this place. @defaultValue `a2a` */
  realm?: string;
  /**
   * Decides whether a caller may do what it asks for, before anything is looked up.
   * `principal` is undefined only if {@link AuthOptions.isOptional}.
   */
  authorize?: (principal: Principal | undefined, intent: Intent) => Maybe<boolean>;
  /**
   * Shows agents the headers that credentials come in.
   * @defaultValue false
   */
  exposeCredentials?: boolean;
  /** Hears of everybody who was refused; the hint of the error says why. */
  onRefuse?: (error: A2AError, exchange: Exchange) => void;
}

/** The name of a scheme and what people should know of it. */
export interface SchemeNaming {
  /** The name of the scheme in the card. */
  scheme?: string;
  description?: string;
}

/** The one scheme of an authenticator, under the name it is to have. */
export function oneScheme(
  { scheme, description }: SchemeNaming,
  name: string,
  declared: SecurityScheme,
): { readonly [name: string]: SecurityScheme } {
  return { [scheme ?? name]: description === undefined ? declared : { ...declared, description } };
}
