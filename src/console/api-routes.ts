import { A2AError } from '../protocol/errors.ts';
import type { JsonEventStream } from './json-event-stream.ts';

/** An authenticated request of the page. */
interface ApiRequest {
  readonly query: URLSearchParams;
  readonly body: string;
  /** Aborts when the page disconnects. */
  readonly signal: AbortSignal;
}

/** Response of an API route. */
export type ApiResponse =
  | { readonly json: unknown }
  | { readonly isEmpty: true }
  | { readonly file: string; readonly name: string; readonly type: string }
  /** An error thrown in `stream` is sent as the last document, of kind `error`. */
  | { readonly stream: (stream: JsonEventStream) => Promise<void> };

/** Handles a request. `params` are the decoded path segments at the place of `{}`. */
export type ApiHandler = (request: ApiRequest, ...params: string[]) => ApiResponse | Promise<ApiResponse>;

/** Response without content (204). */
export const emptyResponse: ApiResponse = { isEmpty: true };

/** Handlers by method and path, such as `GET agents/{}/cards`. */
export type ApiRoutes = { readonly [route: string]: ApiHandler };

/**
 * Finds the handler of a request.
 *
 * @param path - path below `/api/`, percent-encoded.
 * @throws {@link A2AError} `NOT_FOUND` or `METHOD_NOT_ALLOWED`
 */
export function matchRoute(
  routes: ApiRoutes,
  method: string,
  path: string,
): { handle: ApiHandler; params: readonly string[] } {
  const segments = path.split('/');
  let hasOtherMethod = false;
  for (const [route, handle] of Object.entries(routes)) {
    const [verb, pattern = ''] = route.split(' ');
    const params = matchPath(pattern.split('/'), segments);
    if (!params) continue;
    if (verb === method) return { handle, params };
    hasOtherMethod = true;
  }
  throw new A2AError(hasOtherMethod ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND');
}

function matchPath(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: string[] = [];
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (expected === '{}' && segment !== '') params.push(decodeSegment(segment));
    else if (expected !== segment) return undefined;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new A2AError('INVALID_REQUEST', 'Invalid percent-encoding in the path');
  }
}
