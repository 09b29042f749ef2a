import type { Principal } from '../../protocol/agent.ts';
import type { SecurityScheme } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { Caller, Exchange } from '../http/http-message.ts';
import { type AdmittedExchange, Curtain } from './authenticated-request.ts';
import type { Authenticator, AuthOptions, Maybe } from './authenticator.ts';
import { challengeOf, type Problem, Refusal } from './auth-error.ts';

/** A way to prove who one is that was tried and failed. */
interface Failure {
  authenticator: Authenticator;
  error: A2AError;
}

const alwaysSecret = ['authorization', 'proxy-authorization', 'cookie'];

/** Finds out who calls, before anything of the request is read but its head. */
export class Gate {
  /** All schemes of all authenticators. */
  readonly schemes: { readonly [name: string]: SecurityScheme };
  readonly options: AuthOptions;
  readonly #realm: string;
  readonly #curtain: Curtain;

  constructor(options: AuthOptions) {
    if (options.any.length === 0) throw invalidField('auth.any', 'must have at least one authenticator');
    this.options = options;
    this.schemes = gather(options.any);
    this.#realm = options.realm ?? 'a2a';
    const secrets = options.any.map((each) => each.secrets);
    const headers = [...alwaysSecret, ...secrets.flatMap((each) => each?.headers ?? [])];
    this.#curtain = new Curtain(
      options.exposeCredentials ? [] : headers.map((name) => name.toLowerCase()),
      secrets.flatMap((each) => each?.query ?? []),
    );
  }

  /** The exchange without its secrets, and without asking who sent it. */
  hide(exchange: Exchange): AdmittedExchange {
    return this.#curtain.hide(exchange, undefined);
  }

  /**
   * Lets a caller in, at once if its authenticators answer at once.
   *
   * @throws {@link Refusal}, or what an authenticator failed with for no fault of the caller.
   */
  admit(exchange: Exchange): Maybe<AdmittedExchange> {
    return this.#tryFrom(0, exchange, []);
  }

  #tryFrom(from: number, exchange: Exchange, failures: Failure[]): Maybe<AdmittedExchange> {
    const { any } = this.options;
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
        if (thrown instanceof Refusal) throw thrown;
        fail(thrown);
      }
    }
    return this.#unknown(exchange, failures);
  }

  #known(
    exchange: Exchange,
    principal: Principal,
    { schemes, scopes = [] }: Authenticator,
  ): AdmittedExchange {
    const caller: Caller = { principal, schemes: Object.keys(schemes) };
    const admitted = this.#curtain.hide(exchange, caller);
    if (!scopes.every((scope) => principal.scopes?.includes(scope))) throw this.forbid(scopes, admitted);
    return admitted;
  }

  #unknown(exchange: Exchange, failures: Failure[]): AdmittedExchange {
    // Whoever could not be asked might have known the caller: it should try again, not give up.
    const broken = failures.find(({ error }) => error.reason !== 'UNAUTHENTICATED');
    if (broken) throw broken.error;
    const admitted = this.hide(exchange);
    if (failures.length === 0 && this.options.isOptional) return admitted;
    throw this.challenge(admitted, failures);
  }

  /** The error for a caller that has to say who it is. */
  challenge(exchange: Exchange, failures: readonly Failure[] = []): Refusal {
    const failed = new Set(failures.map(({ authenticator }) => authenticator));
    const challenges = this.options.any.flatMap((each) =>
      this.#challengesOf(each, failed.has(each) ? { error: 'invalid_token' } : undefined),
    );
    const [first] = failures;
    const hint = failures.length === 0 ? 'No credentials came.' : failures.map(hintOf).join(' ');
    return this.#told(
      new Refusal('UNAUTHENTICATED', [...new Set(challenges)], first?.error.message, { hint }),
      exchange,
    );
  }

  /** The error for a caller that is known and may not do what it asks for. */
  forbid(scope: readonly string[], exchange: Exchange, hint?: string): Refusal {
    const problem: Problem = { error: 'insufficient_scope', scope };
    const challenges =
      scope.length === 0 ? [] : this.options.any.flatMap((each) => this.#challengesOf(each, problem));
    const text = scope.length === 0 ? undefined : `Not allowed without the scope ${scope.join(' ')}`;
    const insufficient = challenges.filter((each) => each.includes('insufficient_scope'));
    return this.#told(
      new Refusal('PERMISSION_DENIED', [...new Set(insufficient)], text, {
        ...(scope.length > 0 && { details: { scope: scope.join(' ') } }),
        hint: hint ?? 'The caller lacks a scope.',
      }),
      exchange,
    );
  }

  #challengesOf({ schemes }: Authenticator, problem: Problem | undefined): string[] {
    return Object.values(schemes).map((scheme) => challengeOf(scheme, this.#realm, problem));
  }

  #told(refusal: Refusal, exchange: Exchange): Refusal {
    try {
      this.options.onRefuse?.(refusal, exchange);
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
