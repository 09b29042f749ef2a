import type { Principal } from '../../../protocol/agent.ts';
import { headerOf, type Headers } from '../../http/http-message.ts';
import { type Authenticator, oneScheme, type SchemeNaming } from '../authenticator.ts';
import { badCredentials } from '../auth-error.ts';
import { holderOf, maxSecretLength, type SecretHolders } from '../secret-lookup.ts';

/** Whose tokens there are. */
export interface BearerOptions extends SchemeNaming {
  tokens: SecretHolders;
  /** What tokens look like, for people who read the card. */
  bearerFormat?: string;
}

/** Knows callers by a token that was given to them. */
export function bearer(options: BearerOptions): Authenticator {
  const holder = holderOf(options.tokens, 'tokens');
  const { bearerFormat } = options;
  return {
    schemes: oneScheme(options, 'bearer', {
      type: 'http',
      scheme: 'bearer',
      ...(bearerFormat !== undefined && { bearerFormat }),
    }),
    authenticate({ headers }) {
      const token = bearerTokenIn(headers, maxSecretLength);
      if (token === undefined) return undefined;
      const found = holder(token);
      return found instanceof Promise ? found.then(orRefuse) : orRefuse(found);
    },
  };
}

function orRefuse(principal: Principal | undefined): Principal {
  if (principal) return principal;
  throw badCredentials('Nobody has this token.');
}

/**
 * The token of `Authorization: Bearer …`.
 *
 * @returns undefined when the header is missing or of another kind.
 * @throws {@link A2AError} `UNAUTHENTICATED` when what follows is no token.
 */
export function bearerTokenIn(headers: Headers, maxLength: number): string | undefined {
  const header = headerOf(headers, 'authorization');
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) return undefined;
  if (header.length > maxLength) throw badCredentials(`The token has more than ${maxLength} characters.`);
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) throw badCredentials('What follows Bearer is no token.');
  return token;
}
