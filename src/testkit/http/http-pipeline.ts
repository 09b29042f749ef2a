import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestInterceptor } from './request-interceptor.ts';
import type { Fault } from '../faults/fault.ts';
import { injectResponseFaults } from '../faults/inject-response-faults.ts';
import type { FaultContext } from '../faults/fault-context.ts';
import type { Journal } from '../journal/journal.ts';
import { captureIdHeader } from '../agent/scripted-agent.ts';

/** A listener for `node:http`. */
export type NodeRequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** What stands between the socket and the agent. */
export interface HttpPipelineOptions {
  readonly journal: Journal;
  readonly door: RequestInterceptor;
  /** Answers below `/__admin`; undefined where there is nothing. */
  readonly admin: NodeRequestListener | undefined;
  /** The path that the agent is served below; its card is at the root as well. */
  readonly basePath: string;
  /** What goes wrong with a request that is not a message, by its path. */
  readonly faultsAt: (path: string) => readonly Fault[];
  readonly tools: FaultContext;
}

/** What everybody may see, and where the agent shows it. */
const atRoot = /^\/(?:\.well-known\/|healthz$|readyz$)/;

/** Puts journal, door and faults around the listener of an agent. */
export function createHttpPipeline(
  agent: NodeRequestListener,
  options: HttpPipelineOptions,
): NodeRequestListener {
  const { journal, door, admin, basePath, faultsAt, tools } = options;
  return (request, response) => {
    const url = request.url ?? '/';
    const path = url.split('?', 1)[0] ?? '/';
    if (admin && (path === '/__admin' || path.startsWith('/__admin/'))) {
      admin(request, response);
      return;
    }
    const recording = journal.begin(request, response);
    const isPublic =
      atRoot.test(path) || (path.startsWith(basePath) && atRoot.test(path.slice(basePath.length)));
    const answer = isPublic ? undefined : door.intercept(request.headers);
    if (answer) {
      recording.markIntercepted(answer.by);
      response.writeHead(answer.status, {
        ...answer.headers,
        'Content-Length': Buffer.byteLength(answer.body),
      });
      response.end(answer.body);
      return;
    }
    if (basePath !== '' && atRoot.test(path)) request.url = `${basePath}${url}`;
    request.headers[captureIdHeader] = String(recording.id);
    injectResponseFaults(response, () => (recording.faults ??= faultsAt(path)), tools);
    agent(request, response);
  };
}
