import type { SecurityScheme } from '../../protocol/card.ts';
import { A2AError, type A2AErrorOptions } from '../../protocol/errors.ts';
import type { HttpServerResponse } from '../http/http-message.ts';

/** Authentication or authorization error. The response contains its challenges. */
export class AuthError extends A2AError {
  /** Values of `WWW-Authenticate`. */
  readonly challenges: readonly string[];

  constructor(
    reason: 'UNAUTHENTICATED' | 'PERMISSION_DENIED',
    challenges: readonly string[],
    message?: string,
    options?: A2AErrorOptions,
  ) {
    super(reason, message, options);
    this.challenges = challenges;
  }
}

/** Adds the `WWW-Authenticate` headers of an {@link AuthError}. */
export function withChallenges(response: HttpServerResponse, error: A2AError): HttpServerResponse {
  if (error instanceof AuthError)
    for (const challenge of error.challenges) response.headers.push('WWW-Authenticate', challenge);
  return response;
}

/**
 * Creates the error for invalid credentials. It never reveals the reason or the credentials to the client.
 *
 * @param hint - the reason, for the operator.
 */
export function invalidCredentials(hint: string): A2AError {
  return new A2AError('UNAUTHENTICATED', 'Invalid credentials', { hint });
}

/** Error of a bearer token (RFC 6750). */
export interface BearerProblem {
  error: 'invalid_token' | 'insufficient_scope';
  scope?: readonly string[];
}

/** Builds the `WWW-Authenticate` challenge of a scheme. */
export function buildChallenge(scheme: SecurityScheme, realm: string, problem?: BearerProblem): string {
  const realmParameter = `realm=${quote(realm)}`;
  switch (scheme.type) {
    case 'apiKey':
      return `ApiKey ${realmParameter}, in=${quote(scheme.location)}, name=${quote(scheme.name)}`;
    case 'http':
      if (scheme.scheme.toLowerCase() === 'bearer') return bearerChallenge(realmParameter, problem);
      if (scheme.scheme.toLowerCase() === 'basic') return `Basic ${realmParameter}, charset="UTF-8"`;
      return `${scheme.scheme.replace(/[^\w!#$%&'*+.^`|~-]/g, '') || 'Custom'} ${realmParameter}`;
    case 'oauth2':
    case 'openIdConnect':
      return bearerChallenge(realmParameter, problem);
    case 'mutualTLS':
      return `MutualTLS ${realmParameter}`;
  }
}

function bearerChallenge(realmParameter: string, problem: BearerProblem | undefined): string {
  if (!problem) return `Bearer ${realmParameter}`;
  // Scopes with other characters are invalid and would break the header.
  const scopes = problem.scope?.filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) ?? [];
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : '';
  return `Bearer ${realmParameter}, error="${problem.error}"${scope}`;
}

/** Formats a quoted string of HTTP; characters that are not allowed are removed. */
function quote(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')}"`;
}
