import { A2AError, errorTable } from '../protocol/errors.ts';
import type { HttpServerResponse } from '../server/http/http-message.ts';
import { errorText } from './agents/console-agent.ts';
import type { ApiResponse } from './api-routes.ts';
import { securityHeaders } from './static-page.ts';

/** Headers of responses that no cache keeps. */
export const noStore = ['Cache-Control', 'no-store'];

/** Converts the response of a route. */
export function toHttpResponse(result: Exclude<ApiResponse, { stream: unknown }>): HttpServerResponse {
  const headers = [...securityHeaders, ...noStore];
  if ('isEmpty' in result) return { status: 204, headers, body: undefined };
  if ('json' in result) headers.push('Content-Type', 'application/json');
  else
    headers.push('Content-Type', result.type, 'Content-Disposition', `attachment; filename="${result.name}"`);
  return { status: 200, headers, body: 'json' in result ? JSON.stringify(result.json) : result.file };
}

/** Creates the error for a request without the token of the console. */
export function invalidToken(): A2AError {
  return new A2AError('UNAUTHENTICATED', 'Missing or invalid console token', {
    hint: 'Open the URL that the console printed at start; it contains the token.',
  });
}

/** Returns what the page displays of an error. */
export function toErrorBody(thrown: unknown): { reason: string; message: string } {
  return { reason: A2AError.from(thrown).reason, message: errorText(thrown) };
}

/** Returns the HTTP status. 401 and 403 are reserved for the console itself; those of an agent become 502. */
export function errorStatus(thrown: unknown): number {
  const { http } = errorTable[A2AError.from(thrown).reason];
  return http === 401 || http === 403 ? 502 : http;
}
