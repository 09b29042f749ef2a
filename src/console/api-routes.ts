import { A2AError } from '../protocol/errors.ts';
import type { JsonEventStream } from './json-event-stream.ts';

/** One request of the page, once it is known to come from there. */
interface ApiRequest {
  readonly query: URLSearchParams;
  readonly body: string;
  /** Aborts when the page is gone. */
  readonly signal: AbortSignal;
}

/** What the page gets. */
export type ApiResponse =
  | { readonly json: unknown }
  | { readonly nothing: true }
  | { readonly file: string; readonly name: string; readonly type: string }
  /** What is thrown in it becomes its last document, of kind `error`. */
  | { readonly stream: (stream: JsonEventStream) => Promise<void> };

/** Answers a request; `names` are what the path has in place of its `{}`. */
export type ApiHandler = (request: ApiRequest, ...names: string[]) => ApiResponse | Promise<ApiResponse>;

/** The answer without content. */
export const emptyResponse: ApiResponse = { nothing: true };

/** Handlers by method and path, such as `GET agents/{}/cards`. */
export type ApiRoutes = { readonly [route: string]: ApiHandler };

/**
 * Finds who answers.
 *
 * @param path - below `/api/`, still percent-encoded.
 * @throws {@link A2AError} `NOT_FOUND` or `METHOD_NOT_ALLOWED`
 */
export function matchRoute(
  routes: ApiRoutes,
  method: string,
  path: string,
): { handle: ApiHandler; names: readonly string[] } {
  const segments = path.split('/');
  let isKnown = false;
  for (const [route, handle] of Object.entries(routes)) {
    const [verb, pattern = ''] = route.split(' ');
    const names = matched(pattern.split('/'), segments);
    if (!names) continue;
    if (verb === method) return { handle, names };
    isKnown = true;
  }
  throw new A2AError(isKnown ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND');
}

function matched(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  const names: string[] = [];
  for (const [at, each] of pattern.entries()) {
    const segment = segments[at] ?? '';
    if (each === '{}' && segment !== '') names.push(decoded(segment));
    else if (each !== segment) return undefined;
  }
  return names;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new A2AError('INVALID_REQUEST', 'The path is not well encoded');
  }
}
