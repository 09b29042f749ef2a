import type { Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { AuthenticationResult, HttpServerRequest } from '../http/http-message.ts';
import { type AuthenticatedRequest, CredentialFilter } from './authenticated-request.ts';
import { isThenable } from '../../primitives/maybe-promise.ts';
import type { Authenticator, AuthOptions } from './authenticator.ts';
import { buildChallenge, type BearerProblem, AuthError } from './auth-error.ts';

/** An authenticator that rejected the request. */
interface Failure {
  authenticator: Authenticator;
  error: A2AError;
}

const credentialHeaders = ['authorization', 'proxy-authorization', 'cookie'];

/** Tries authenticators in order. Uses only the head of the request; the body is read afterwards. */
export class AuthenticatorChain {
  /** All schemes of all authenticators. */
  readonly schemes: { readonly [name: string]: SecurityScheme };
  readonly options: AuthOptions;
  readonly #realm: string;
  readonly #credentialFilter: CredentialFilter;

  readonly #onInvalid: ((request: HttpServerRequest) => void) | undefined;

  /** @param onInvalid - called with each request whose credentials are invalid. */
  constructor(options: AuthOptions, onInvalid?: (request: HttpServerRequest) => void) {
    this.#onInvalid = onInvalid;
    if (options.authenticators.length === 0)
      throw invalidField('auth.authenticators', 'must have at least one element');
    this.options = options;
    this.schemes = collectSchemes(options.authenticators);
    this.#realm = options.realm ?? 'a2a';
    const locations = options.authenticators.map((each) => each.credentialLocations);
    const headers = [...credentialHeaders, ...locations.flatMap((each) => each?.headers ?? [])];
    this.#credentialFilter = new CredentialFilter(
      options.exposeCredentials ? [] : headers.map((name) => name.toLowerCase()),
      locations.flatMap((each) => each?.query ?? []),
    );
  }

  /** Returns the request without credentials and without authentication. */
  stripCredentials(request: HttpServerRequest): AuthenticatedRequest {
    return this.#credentialFilter.strip(request, undefined);
  }

  /**
   * Authenticates a request, synchronously if the authenticators are synchronous.
   *
   * @param allowAnonymous - accepts requests without credentials, by default as the options say.
   * @throws {@link AuthError}, or the error of an authenticator that could not decide.
   */
  authenticate(
    request: HttpServerRequest,
    { allowAnonymous = false }: Pick<AuthOptions, 'allowAnonymous'> = this.options,
  ): Promise<AuthenticatedRequest> | AuthenticatedRequest {
    return this.#tryFrom(0, request, { failures: [], allowAnonymous });
  }

  #tryFrom(
    from: number,
    request: HttpServerRequest,
    attempt: { readonly failures: Failure[]; readonly allowAnonymous: boolean },
  ): Promise<AuthenticatedRequest> | AuthenticatedRequest {
    const { authenticators } = this.options;
    for (let index = from; index < authenticators.length; index++) {
      const authenticator = authenticators[index] as Authenticator;
      const fail = (thrown: unknown): void => {
        attempt.failures.push({ authenticator, error: A2AError.from(thrown) });
      };
      try {
        const result = authenticator.authenticate(request);
        if (isThenable(result)) {
          const principalPromise = Promise.resolve(result).then(requireId, (thrown: unknown) => fail(thrown));
          return principalPromise.then((principal) =>
            principal
              ? this.#accept(request, principal, authenticator)
              : this.#tryFrom(index + 1, request, attempt),
          );
        }
        if (requireId(result)) return this.#accept(request, result as Principal, authenticator);
      } catch (thrown) {
        if (thrown instanceof AuthError) throw thrown;
        fail(thrown);
      }
    }
    return this.#rejectOrAllowAnonymous(request, attempt);
  }

  #accept(
    request: HttpServerRequest,
    principal: Principal,
    { schemes, scopes = [] }: Authenticator,
  ): AuthenticatedRequest {
    const authentication: AuthenticationResult = { principal, schemes: Object.keys(schemes) };
    const stripped = this.#credentialFilter.strip(request, authentication);
    if (!scopes.every((scope) => principal.scopes?.includes(scope)))
      throw this.permissionDenied(scopes, stripped);
    return stripped;
  }

  #rejectOrAllowAnonymous(
    request: HttpServerRequest,
    { failures, allowAnonymous }: { readonly failures: Failure[]; readonly allowAnonymous: boolean },
  ): AuthenticatedRequest {
    // An authenticator that failed might have accepted the client: UNAVAILABLE makes it retry instead of giving up.
    const unavailable = failures.find(({ error }) => error.reason !== 'UNAUTHENTICATED');
    if (unavailable) throw unavailable.error;
    const stripped = this.stripCredentials(request);
    if (failures.length === 0 && allowAnonymous) return stripped;
    throw this.challenge(stripped, failures);
  }

  /** Creates the 401 error with challenges. */
  challenge(request: HttpServerRequest, failures: readonly Failure[] = []): AuthError {
    const failed = new Set(failures.map(({ authenticator }) => authenticator));
    const challenges = this.options.authenticators.flatMap((each) =>
      this.#buildChallenges(each, failed.has(each) ? { error: 'invalid_token' } : undefined),
    );
    const [first] = failures;
    if (first) this.#onInvalid?.(request);
    const hint =
      failures.length === 0 ? 'The request has no credentials.' : failures.map(formatHint).join(' ');
    return this.#reportDenied(
      new AuthError('UNAUTHENTICATED', [...new Set(challenges)], first?.error.message, { hint }),
      request,
    );
  }

  /** Creates the 403 error for an authenticated client. */
  permissionDenied(scope: readonly string[], request: HttpServerRequest, hint?: string): AuthError {
    const problem: BearerProblem = { error: 'insufficient_scope', scope };
    const challenges =
      scope.length === 0
        ? []
        : this.options.authenticators.flatMap((each) => this.#buildChallenges(each, problem));
    const text = scope.length === 0 ? undefined : `Missing scope: ${scope.join(' ')}`;
    const insufficient = challenges.filter((each) => each.includes('insufficient_scope'));
    return this.#reportDenied(
      new AuthError('PERMISSION_DENIED', [...new Set(insufficient)], text, {
        ...(scope.length > 0 && { details: { scope: scope.join(' ') } }),
        hint: hint ?? 'The client lacks a required scope.',
      }),
      request,
    );
  }

  #buildChallenges({ schemes }: Authenticator, problem: BearerProblem | undefined): string[] {
    return Object.values(schemes).map((scheme) => buildChallenge(scheme, this.#realm, problem));
  }

  #reportDenied(error: AuthError, request: HttpServerRequest): AuthError {
    try {
      this.options.onDenied?.(error, request);
    } catch {
      // Errors in observers must not bypass the rejection.
    }
    return error;
  }
}

function formatHint({ authenticator: { schemes }, error }: Failure): string {
  return `${Object.keys(schemes).join(' with ')}: ${error.hint ?? error.message}`;
}

/** Rejects principals without id: they would share tasks with each other. */
function requireId(principal: Principal | undefined): Principal | undefined {
  if (principal === undefined || (typeof principal.id === 'string' && principal.id !== '')) return principal;
  throw new A2AError('INTERNAL_ERROR', undefined, {
    cause: new TypeError('An authenticator returned a principal without id'),
  });
}

function collectSchemes(authenticators: readonly Authenticator[]): { [name: string]: SecurityScheme } {
  const schemes = new Map<string, SecurityScheme>();
  for (const [name, scheme] of authenticators.flatMap((each) => Object.entries(each.schemes))) {
    const known = schemes.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(scheme))
      throw invalidField('auth.authenticators', `must not declare two different schemes named ${name}`);
    schemes.set(name, scheme);
  }
  return Object.fromEntries(schemes);
}
