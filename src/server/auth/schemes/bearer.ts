import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader, type RequestHeaders } from '../../http/http-message.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { createSecretLookup, maxSecretLength, type PrincipalsBySecret } from '../secret-lookup.ts';

/** Whose tokens there are. */
export interface BearerAuthOptions extends SchemeLabel {
  tokens: PrincipalsBySecret;
  /** What tokens look like, for people who read the card. */
  bearerFormat?: string;
}

/** Knows callers by a token that was given to them. */
export function bearerAuth(options: BearerAuthOptions): Authenticator {
  const holder = createSecretLookup(options.tokens, 'tokens');
  const { bearerFormat } = options;
  return {
    schemes: singleScheme(options, 'bearer', {
      type: 'http',
      scheme: 'bearer',
      ...(bearerFormat !== undefined && { bearerFormat }),
    }),
    authenticate({ headers }) {
      const token = parseBearerToken(headers, maxSecretLength);
      if (token === undefined) return undefined;
      const found = holder(token);
      return found instanceof Promise ? found.then(orRefuse) : orRefuse(found);
    },
  };
}

function orRefuse(principal: Principal | undefined): Principal {
  if (principal) return principal;
  throw invalidCredentials('Nobody has this token.');
}

/**
 * The token of `Authorization: Bearer …`.
 *
 * @returns undefined when the header is missing or of another kind.
 * @throws {@link A2AError} `UNAUTHENTICATED` when what follows is no token.
 */
export function parseBearerToken(headers: RequestHeaders, maxLength: number): string | undefined {
  const header = singleHeader(headers, 'authorization');
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) return undefined;
  if (header.length > maxLength) throw invalidCredentials(`The token has more than ${maxLength} characters.`);
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) throw invalidCredentials('What follows Bearer is no token.');
  return token;
}
