import { mapResolved } from '../../../primitives/maybe-promise.ts';
import type { Principal } from '../../../protocol/agent.ts';
import { singleHeader, type RequestHeaders } from '../../http/http-message.ts';
import { type Authenticator, singleScheme, type SchemeLabel } from '../authenticator.ts';
import { invalidCredentials } from '../auth-error.ts';
import { createSecretLookup, maxSecretLength, type PrincipalsBySecret } from '../secret-lookup.ts';

/** Options of {@link bearerAuth}. */
export interface BearerAuthOptions extends SchemeLabel {
  tokens: PrincipalsBySecret;
  /** Format of the tokens, for the card. */
  bearerFormat?: string;
}

/** Authenticates clients by an opaque bearer token. */
export function bearerAuth(options: BearerAuthOptions): Authenticator {
  const findPrincipal = createSecretLookup(options.tokens, 'tokens');
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
      return mapResolved(findPrincipal(token), requirePrincipal);
    },
  };
}

function requirePrincipal(principal: Principal | undefined): Principal {
  if (principal) return principal;
  throw invalidCredentials('Unknown token.');
}

/**
 * Returns the token of `Authorization: Bearer …`.
 *
 * @returns undefined if the header is missing or has another scheme.
 * @throws {@link A2AError} `UNAUTHENTICATED` if the token is malformed.
 */
export function parseBearerToken(headers: RequestHeaders, maxLength: number): string | undefined {
  const header = singleHeader(headers, 'authorization');
  if (header === undefined || !/^bearer(\s|$)/i.test(header)) return undefined;
  if (header.length > maxLength) throw invalidCredentials(`The token has more than ${maxLength} characters.`);
  const token = /^bearer +([\w.~+/-]+=*) *$/i.exec(header)?.[1];
  if (token === undefined) throw invalidCredentials('The Bearer token is malformed.');
  return token;
}
