import type { SecurityScheme } from '../../protocol/card.ts';
import { A2AError, type A2AErrorOptions } from '../../protocol/errors.ts';
import type { HttpServerResponse } from '../http/http-message.ts';

/** A caller was refused; the reply says how to do better. */
export class AuthError extends A2AError {
  /** The values of `WWW-Authenticate`. */
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

/** Adds to a reply how its caller can do better, if it was refused. */
export function withChallenges(reply: HttpServerResponse, error: A2AError): HttpServerResponse {
  if (error instanceof AuthError)
    for (const challenge of error.challenges) reply.headers.push('WWW-Authenticate', challenge);
  return reply;
}

/**
 * Makes the error for credentials that are not good. It never says what was wrong to the peer, and never repeats what
 * came.
 *
 * @param hint - what was wrong, for whoever runs this server.
 */
export function invalidCredentials(hint: string): A2AError {
  return new A2AError('UNAUTHENTICATED', 'The credentials are not valid', { hint });
}

/** What is wrong with a token, in the words of RFC 6750. */
export interface BearerProblem {
  error: 'invalid_token' | 'insufficient_scope';
  scope?: readonly string[];
}

/** The challenge of a scheme: how to prove who one is, and for bearer tokens what was wrong with the last one. */
export function buildChallenge(scheme: SecurityScheme, realm: string, problem?: BearerProblem): string {
  const named = `realm=${quote(realm)}`;
  switch (scheme.type) {
    case 'apiKey':
      return `ApiKey ${named}, in=${quote(scheme.location)}, name=${quote(scheme.name)}`;
    case 'http':
      if (scheme.scheme.toLowerCase() === 'bearer') return bearerChallenge(named, problem);
      if (scheme.scheme.toLowerCase() === 'basic') return `Basic ${named}, charset="UTF-8"`;
      return `${scheme.scheme.replace(/[^\w!#$%&'*+.^`|~-]/g, '') || 'Custom'} ${named}`;
    case 'oauth2':
    case 'openIdConnect':
      return bearerChallenge(named, problem);
    case 'mutualTLS':
      return `MutualTLS ${named}`;
  }
}

function bearerChallenge(named: string, problem: BearerProblem | undefined): string {
  if (!problem) return `Bearer ${named}`;
  // A scope with other characters is no scope, and would break the header.
  const scopes = problem.scope?.filter((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)) ?? [];
  const scope = scopes.length > 0 ? `, scope="${scopes.join(' ')}"` : '';
  return `Bearer ${named}, error="${problem.error}"${scope}`;
}

/** A quoted string as HTTP has it. What HTTP cannot say is left out. */
function quote(text: string): string {
  return `"${text.replace(/[^\x20-\x7e]/g, '').replace(/["\\]/g, '\\$&')}"`;
}
