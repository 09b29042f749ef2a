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

/** Returns true for the JSON-RPC endpoint `/` and for `/subscribe`, which the first 0.1 clients use for streams. */
export function isRpcPath(path: string | undefined): boolean {
  return path === '/' || path === '/subscribe';
}

/** Returns the error response to a request without a readable body, in the format of its path and version. */
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
  // Without a version, a client on a REST path may as well use JSON-RPC, which has an error code for this.
  const isOldest = version === '0.1' || (version === undefined && path === '/subscribe');
  const response = rpcErrorResponse(error, null, isOldest ? v0_1 : v1_0);
  if (!isRpc && response.status < 400) response.status = 400;
  if (error.reason === 'CONTENT_TYPE_NOT_SUPPORTED') response.status = 415;
  return response;
}

/** Returns the response to an authentication error, in the format of its path and version. */
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
