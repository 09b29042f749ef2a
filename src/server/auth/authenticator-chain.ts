import type { Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { AuthenticationResult, HttpServerRequest } from '../http/http-message.ts';
import { type AuthenticatedRequest, CredentialFilter } from './authenticated-request.ts';
import type { Authenticator, AuthOptions, MaybePromise } from './authenticator.ts';
import { buildChallenge, type BearerProblem, AuthError } from './auth-error.ts';

/** A way to prove who one is that was tried and failed. */
interface Failure {
  authenticator: Authenticator;
  error: A2AError;
}

const alwaysSecret = ['authorization', 'proxy-authorization', 'cookie'];

/** Finds out who calls, before anything of the request is read but its head. */
export class AuthenticatorChain {
  /** All schemes of all authenticators. */
  readonly schemes: { readonly [name: string]: SecurityScheme };
  readonly options: AuthOptions;
  readonly #realm: string;
  readonly #curtain: CredentialFilter;

  constructor(options: AuthOptions) {
    if (options.authenticators.length === 0)
      throw invalidField('auth.any', 'must have at least one authenticator');
    this.options = options;
    this.schemes = gather(options.authenticators);
    this.#realm = options.realm ?? 'a2a';
    const secrets = options.authenticators.map((each) => each.credentialLocations);
    const headers = [...alwaysSecret, ...secrets.flatMap((each) => each?.headers ?? [])];
    this.#curtain = new CredentialFilter(
      options.exposeCredentials ? [] : headers.map((name) => name.toLowerCase()),
      secrets.flatMap((each) => each?.query ?? []),
    );
  }

  /** The exchange without its secrets, and without asking who sent it. */
  stripCredentials(exchange: HttpServerRequest): AuthenticatedRequest {
    return this.#curtain.strip(exchange, undefined);
  }

  /**
   * Lets a caller in, at once if its authenticators answer at once.
   *
   * @throws {@link AuthError}, or what an authenticator failed with for no fault of the caller.
   */
  authenticate(exchange: HttpServerRequest): MaybePromise<AuthenticatedRequest> {
    return this.#tryFrom(0, exchange, []);
  }

  #tryFrom(
    from: number,
    exchange: HttpServerRequest,
    failures: Failure[],
  ): MaybePromise<AuthenticatedRequest> {
    const { authenticators: any } = this.options;
    for (let at = from; at < any.length; at++) {
      const authenticator = any[at] as Authenticator;
      const fail = (thrown: unknown): void => {
        failures.push({ authenticator, error: A2AError.from(thrown) });
      };
      try {
        const found = authenticator.authenticate(exchange);
        if (found instanceof Promise) {
          const later = found.then(checked, (thrown: unknown) => fail(thrown));
          return later.then((principal) =>
            principal
              ? this.#known(exchange, principal, authenticator)
              : this.#tryFrom(at + 1, exchange, failures),
          );
        }
        if (checked(found)) return this.#known(exchange, found as Principal, authenticator);
      } catch (thrown) {
        if (thrown instanceof AuthError) throw thrown;
        fail(thrown);
      }
    }
    return this.#unknown(exchange, failures);
  }

  #known(
    exchange: HttpServerRequest,
    principal: Principal,
    { schemes, scopes = [] }: Authenticator,
  ): AuthenticatedRequest {
    const caller: AuthenticationResult = { principal, schemes: Object.keys(schemes) };
    const admitted = this.#curtain.strip(exchange, caller);
    if (!scopes.every((scope) => principal.scopes?.includes(scope)))
      throw this.permissionDenied(scopes, admitted);
    return admitted;
  }

  #unknown(exchange: HttpServerRequest, failures: Failure[]): AuthenticatedRequest {
    // Whoever could not be asked might have known the caller: it should try again, not give up.
    const broken = failures.find(({ error }) => error.reason !== 'UNAUTHENTICATED');
    if (broken) throw broken.error;
    const admitted = this.stripCredentials(exchange);
    if (failures.length === 0 && this.options.allowAnonymous) return admitted;
    throw this.challenge(admitted, failures);
  }

  /** The error for a caller that has to say who it is. */
  challenge(exchange: HttpServerRequest, failures: readonly Failure[] = []): AuthError {
    const failed = new Set(failures.map(({ authenticator }) => authenticator));
    const challenges = this.options.authenticators.flatMap((each) =>
      this.#challengesOf(each, failed.has(each) ? { error: 'invalid_token' } : undefined),
    );
    const [first] = failures;
    const hint = failures.length === 0 ? 'No credentials came.' : failures.map(hintOf).join(' ');
    return this.#told(
      new AuthError('UNAUTHENTICATED', [...new Set(challenges)], first?.error.message, { hint }),
      exchange,
    );
  }

  /** The error for a caller that is known and may not do what it asks for. */
  permissionDenied(scope: readonly string[], exchange: HttpServerRequest, hint?: string): AuthError {
    const problem: BearerProblem = { error: 'insufficient_scope', scope };
    const challenges =
      scope.length === 0
        ? []
        : this.options.authenticators.flatMap((each) => this.#challengesOf(each, problem));
    const text = scope.length === 0 ? undefined : `Not allowed without the scope ${scope.join(' ')}`;
    const insufficient = challenges.filter((each) => each.includes('insufficient_scope'));
    return this.#told(
      new AuthError('PERMISSION_DENIED', [...new Set(insufficient)], text, {
        ...(scope.length > 0 && { details: { scope: scope.join(' ') } }),
        hint: hint ?? 'The caller lacks a scope.',
      }),
      exchange,
    );
  }

  #challengesOf({ schemes }: Authenticator, problem: BearerProblem | undefined): string[] {
    return Object.values(schemes).map((scheme) => buildChallenge(scheme, this.#realm, problem));
  }

  #told(refusal: AuthError, exchange: HttpServerRequest): AuthError {
    try {
      this.options.onDenied?.(refusal, exchange);
    } catch {
      // Whoever listens must not be able to let somebody in.
    }
    return refusal;
  }
}

function hintOf({ authenticator: { schemes }, error }: Failure): string {
  return `${Object.keys(schemes).join(' with ')}: ${error.hint ?? error.message}`;
}

/** A principal without a name would share what it owns with others like it. */
function checked(principal: Principal | undefined): Principal | undefined {
  if (principal === undefined || (typeof principal.id === 'string' && principal.id !== '')) return principal;
  throw new A2AError('INTERNAL_ERROR', undefined, {
    cause: new TypeError('An authenticator gave a principal without an id'),
  });
}

function gather(any: readonly Authenticator[]): { [name: string]: SecurityScheme } {
  const schemes = new Map<string, SecurityScheme>();
  for (const [name, scheme] of any.flatMap((each) => Object.entries(each.schemes))) {
    const known = schemes.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(scheme))
      throw invalidField('auth.any', `declares two different schemes called ${name}`);
    schemes.set(name, scheme);
  }
  return Object.fromEntries(schemes);
}
