import { dialectForPath } from '../../dialects/negotiation.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { AuthError } from '../auth/auth-error.ts';
import type { HttpServerResponse } from './http-message.ts';
import { rpcErrorResponse } from './json-rpc.ts';
import { isRestPath, restErrorResponse } from './rest.ts';
import { versionForErrors } from './requested-version.ts';

/** JSON-RPC lives at the root, and the streams of the first clients one step below. */
export function isRpcPath(path: string | undefined): boolean {
  return path === '/' || path === '/subscribe';
}

/** The reply to a request without a readable body, in the words of whoever speaks on that path. */
export function errorResponse(
  error: A2AError,
  path: string,
  versionText: string | undefined,
): HttpServerResponse {
  const version = versionForErrors(versionText);
  const isRpc = isRpcPath(path);
  if (!isRpc && version === '1.0') return restErrorResponse(error, v1_0);
  if (!isRpc && version !== '0.1' && (version !== undefined || path.startsWith('/v1/')))
    return restErrorResponse(error, v0_3_rest);
  // Who names no version on a path of REST may as well speak JSON-RPC there; only that has a code for this.
  const isOldest = version === '0.1' || (version === undefined && path === '/subscribe');
  const reply = rpcErrorResponse(error, null, isOldest ? v0_1 : v1_0);
  if (!isRpc && reply.status < 400) reply.status = 400;
  if (error.reason === 'CONTENT_TYPE_NOT_SUPPORTED') reply.status = 415;
  return reply;
}

/** The reply to a caller that was not let in, in the words of whoever speaks on that path. */
export function authErrorResponse(
  error: AuthError,
  method: string,
  path: string,
  versionText: string | undefined,
): HttpServerResponse {
  const version = versionForErrors(versionText);
  if (isRpcPath(path) || version === '0.1') return errorResponse(error, path, versionText);
  const dialect = dialectForPath(path, version);
  if (method === 'POST' && !isRestPath(dialect, method, path)) return errorResponse(error, path, versionText);
  return restErrorResponse(error, dialect);
}
