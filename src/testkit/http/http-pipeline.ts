import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestInterceptor } from './request-interceptor.ts';
import type { Fault } from '../faults/fault.ts';
import { injectResponseFaults } from '../faults/inject-response-faults.ts';
import type { FaultContext } from '../faults/fault-context.ts';
import { captureHttp } from '../journal/capture-http.ts';
import type { Journal } from '../journal/journal.ts';
import { captureIdHeader } from '../agent/call-capture.ts';

/** A request listener of `node:http`. */
export type NodeRequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Options of {@link createHttpPipeline}. */
export interface HttpPipelineOptions {
  readonly journal: Journal;
  readonly interceptor: RequestInterceptor;
  /** Handles requests to `/__admin`; undefined if the admin API is disabled. */
  readonly admin: NodeRequestListener | undefined;
  /** Path prefix of the agent; its card is also served at the root. */
  readonly basePath: string;
  /** Selects the faults of requests without a message, by path. */
  readonly selectFaults: (path: string) => readonly Fault[];
  readonly faultContext: FaultContext;
}

/** Paths that need no credentials. */
const publicPath = /^\/(?:\.well-known\/|healthz$|readyz$)/;

/** Wraps the listener of an agent with journal, request interceptor and fault injection. */
export function createHttpPipeline(
  agent: NodeRequestListener,
  options: HttpPipelineOptions,
): NodeRequestListener {
  const { journal, interceptor, admin, basePath, selectFaults, faultContext } = options;
  return (request, response) => {
    const url = request.url ?? '/';
    const path = url.split('?', 1)[0] ?? '/';
    if (admin && (path === '/__admin' || path.startsWith('/__admin/'))) {
      admin(request, response);
      return;
    }
    const capture = captureHttp(journal, request, response);
    const isPublic =
      publicPath.test(path) || (path.startsWith(basePath) && publicPath.test(path.slice(basePath.length)));
    const intercepted = isPublic ? undefined : interceptor.intercept(request.headers);
    if (intercepted) {
      capture.setResponseOrigin(intercepted.origin);
      response.writeHead(intercepted.status, {
        ...intercepted.headers,
        'Content-Length': Buffer.byteLength(intercepted.body),
      });
      response.end(intercepted.body);
      return;
    }
    if (basePath !== '' && publicPath.test(path)) request.url = `${basePath}${url}`;
    request.headers[captureIdHeader] = String(capture.id);
    injectResponseFaults(response, () => (capture.faults ??= selectFaults(path)), faultContext);
    agent(request, response);
  };
}
