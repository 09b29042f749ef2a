/**
 * REST transport for all dialects with routes.
 *
 * @module
 */
import {
  type EventReader,
  rpcMethodName,
  type RequestCodec,
  type RequestOf,
  type RestRoute,
  type ResultOf,
  type UnaryOperation,
} from '../../dialects/dialect.ts';
import { expandRoutePath, formatRestQuery, joinRoutePath } from '../../dialects/http/rest-path.ts';
import type { DecodeMode } from '../../dialects/translation-loss.ts';
import type { CallContext, Operation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { isTask } from '../../protocol/task.ts';
import {
  type ResponseInfo,
  type TransportBinding,
  type Endpoint,
  refineError,
  type StreamFrame,
  unsupportedByVersion,
  notA2AResponse,
  type StreamOpenOptions,
  type FrameStream,
  type StreamingOperation,
  unreadableResponse,
} from './transport-binding.ts';
import { envelopedRest } from './enveloped-rest.ts';
import { type OutboundRequest, requestBuffered } from '../http/send-request.ts';
import type { ClientSettings } from '../connect-options.ts';
import { decodeReportingLosses, encodeReportingLosses } from './loss-reporting.ts';
import type { JsonObject } from '../../primitives/json.ts';
import { openFrameStream, skipFrame } from './frame-stream.ts';
import type { ServerSentEvent } from '../../primitives/formats/sse.ts';
import { isRepeatable, serviceParameters } from './service-parameters.ts';
import { streamOpenContext } from './stream-open-context.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Creates a REST binding of an endpoint. */
export function restBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  return new RestBinding(settings, endpoint);
}

class RestBinding implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #settings: ClientSettings;
  readonly #origin: string;
  readonly #basePath: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #routes = new Map<Operation, RestRoute[]>();
  /** True if POST requests contain JSON-RPC requests. */
  readonly #isEnveloped: boolean;
  #lastId = 0;

  constructor(settings: ClientSettings, endpoint: Endpoint) {
    const { dialect, tenant } = endpoint;
    const url = new URL(endpoint.url);
    const tenantPath = tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
    this.endpoint = endpoint;
    this.#settings = settings;
    this.#isEnveloped = dialect === envelopedRest;
    this.#origin = url.origin;
    this.#basePath = stripTrailing(url.pathname, '/') + tenantPath;
    this.#headers = {
      accept: acceptHeader(dialect.restMediaType),
      'user-agent': 'dragoman',
      ...(dialect.version === '1.0' && { 'a2a-version': '1.0' }),
      ...settings.headers,
    };
    for (const route of dialect.routes) {
      const known = this.#routes.get(route.operation);
      if (known) known.push(route);
      else this.#routes.set(route.operation, [route]);
    }
  }

  async unary<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
    return this.#tryRoutes(operation, async (route) => {
      const response = await requestBuffered(this.#settings, this.#createRequest(route, request, call));
      const result = this.#extractResult(response, response.text, route);
      try {
        return this.#decode(operation, (mode) => this.endpoint.dialect.results[operation].read(result, mode));
      } catch (thrown) {
        throw unreadableResponse(thrown, this.endpoint.url);
      }
    });
  }

  open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    options: StreamOpenOptions,
  ): Promise<FrameStream> {
    return this.#tryRoutes(operation, (route) => {
      const outbound = this.#createRequest(route, request, call);
      outbound.headers = { ...outbound.headers, accept: `text/event-stream, ${outbound.headers.accept}` };
      if (options.lastEventId !== undefined)
        outbound.headers = { ...outbound.headers, 'last-event-id': options.lastEventId };
      const reader = this.endpoint.dialect.eventReader(streamOpenContext(operation, request));
      return openFrameStream(
        this.#settings,
        outbound,
        {
          decodeFrame: (event) => this.#decodeFrame(event, reader),
          decodeBuffered: (response, text) => [
            { events: this.#decodeBuffered(response, text, route), id: undefined },
          ],
        },
        options.signal,
      );
    });
  }

  /** Tries the routes of an operation in order. The first one that the agent supports becomes the preferred one. */
  async #tryRoutes<T>(operation: Operation, send: (route: RestRoute) => Promise<T>): Promise<T> {
    const routes = this.#routes.get(operation) ?? [];
    let firstError: unknown;
    for (const [i, route] of routes.entries()) {
      try {
        const result = await send(route);
        if (i > 0) this.#routes.set(operation, [route, ...routes.filter((each) => each !== route)]);
        return result;
      } catch (thrown) {
        const { reason } = A2AError.from(thrown);
        if (reason !== 'NOT_FOUND' && reason !== 'METHOD_NOT_ALLOWED' && reason !== 'METHOD_NOT_FOUND')
          throw thrown;
        firstError ??= thrown;
      }
    }
    throw firstError ?? unsupportedByVersion(this.endpoint, operation);
  }

  #createRequest(route: RestRoute, request: RequestOf[Operation], call: CallContext): OutboundRequest {
    const { dialect } = this.endpoint;
    const { operation, verb } = route;
    const codec = dialect.requests[operation] as RequestCodec<RequestOf[Operation]>;
    const context = { operation, url: this.endpoint.url };
    const params = encodeReportingLosses(this.#settings, context, (losses) => codec.write(request, losses));
    const { path: routePath, rest } = expandRoutePath(route.path, params as JsonObject | undefined);
    const path = joinRoutePath(this.#basePath, routePath);
    const headers = { ...this.#headers, ...serviceParameters(dialect, request, call) };
    const outbound: OutboundRequest = {
      operation,
      isRepeatable: isRepeatable(request, this.endpoint.card),
      method: verb,
      target: { origin: this.#origin, path: verb === 'POST' ? path : path + formatRestQuery(rest) },
      headers,
      call,
      auth: this.#settings.auth,
      card: this.endpoint.card,
    };
    if (verb === 'POST') {
      outbound.headers = { ...headers, 'content-type': dialect.restMediaType };
      const method = rpcMethodName(dialect, operation);
      outbound.body = JSON.stringify(
        this.#isEnveloped ? { jsonrpc: '2.0', id: ++this.#lastId, method, params } : rest,
      );
    }
    return outbound;
  }

  #extractResult(response: ResponseInfo, text: string, route: RestRoute): unknown {
    if (text === '' && response.status < 300) return undefined;
    const body = parseJsonOrUndefined(text);
    if (isRpcResponse(body)) return this.#extractRpcResult(body, response);
    if (response.status >= 400) {
      if (!isErrorBody(body)) throw notA2AResponse(this.endpoint, response, text);
      const error = this.endpoint.dialect.restError.read(body, response.status);
      throw refineError(refineNotFound(error, body, route), this.endpoint, response);
    }
    if (body === undefined) throw notA2AResponse(this.endpoint, response, text);
    return body;
  }

  /**
   * Returns the result of a JSON-RPC response. To a plain REST request it means that the agent expects JSON-RPC requests
   * at its REST paths, and that the request had no effect.
   */
  #extractRpcResult({ error, result }: RpcResponse, response: ResponseInfo): unknown {
    if (error === undefined || error === null) return result;
    const read = this.endpoint.dialect.rpcError.read(error, response.status);
    if (this.#isEnveloped || !notJsonRpc.has(read.reason)) throw refineError(read, this.endpoint, response);
    const { message, status } = read;
    throw new A2AError('METHOD_NOT_FOUND', message, { cause: read, ...(status !== undefined && { status }) });
  }

  #decodeFrame(event: ServerSentEvent, reader: EventReader): StreamFrame {
    const data = parseJsonOrUndefined(event.data);
    if (isRpcResponse(data) && data.error !== undefined && data.error !== null)
      return { events: [], id: event.id, error: this.endpoint.dialect.rpcError.read(data.error) };
    const body = isRpcResponse(data) ? data.result : data;
    if (typeof body !== 'object' || body === null)
      return skipFrame(this.#settings, event, 'not a JSON object');
    const wire = body as JsonObject;
    if (event.event === 'error' || isErrorBody(body)) {
      const { code } = (wire.error ?? wire) as JsonObject;
      const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
      return { events: [], id: event.id, error: this.endpoint.dialect.restError.read(body, status) };
    }
    try {
      const events = this.#decode('stream', (mode) => reader.read(body, mode));
      return { events, id: event.id };
    } catch (thrown) {
      return skipFrame(this.#settings, event, A2AError.from(thrown).message, thrown);
    }
  }

  #decode<T>(operation: Operation, decode: (mode: DecodeMode) => T): T {
    return decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, decode);
  }

  #decodeBuffered(response: ResponseInfo, text: string, route: RestRoute): readonly StreamEvent[] {
    const body = this.#extractResult(response, text, route);
    try {
      const result = this.#decode('stream', (mode) => this.endpoint.dialect.results.send.read(body, mode));
      return [isTask(result) ? { kind: 'task', task: result } : { kind: 'message', message: result }];
    } catch (thrown) {
      throw unreadableResponse(thrown, this.endpoint.url);
    }
  }
}

type RpcResponse = { readonly result?: unknown; readonly error?: unknown };

/** Errors of agents that found no JSON-RPC request in a plain REST request. */
const notJsonRpc: ReadonlySet<string> = new Set(['PARSE_ERROR', 'INVALID_REQUEST', 'METHOD_NOT_FOUND']);

function isRpcResponse(body: unknown): body is RpcResponse {
  return (
    typeof body === 'object' && body !== null && 'jsonrpc' in body && ('result' in body || 'error' in body)
  );
}

function acceptHeader(mediaType: string): string {
  return mediaType === 'application/json' ? mediaType : `${mediaType}, application/json`;
}

/**
 * Some agents return a bare 404 without a reason. If the path contains a task id, the task is missing; web frameworks
 * respond to unknown paths with another format.
 */
function refineNotFound(error: A2AError, body: unknown, { path }: RestRoute): A2AError {
  const outer = body as JsonObject;
  const inner = (typeof outer.error === 'object' && outer.error !== null ? outer.error : outer) as JsonObject;
  const isBare = error.status === 404 && !Array.isArray(inner.details) && !(Number(inner.code) < 0);
  if (!isBare) return error;
  const reason = typeof inner.message === 'string' && path.includes('{') ? 'TASK_NOT_FOUND' : 'NOT_FOUND';
  const { message, status, cause, details } = error;
  return new A2AError(reason, message, { status, cause, details });
}

/** Returns true for error bodies of all versions: wrapped, bare, or problem details. */
function isErrorBody(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const wire = body as JsonObject;
  if (typeof wire.error === 'object' && wire.error !== null) return true;
  return (
    (typeof wire.message === 'string' || typeof wire.detail === 'string' || typeof wire.title === 'string') &&
    !('status' in wire && typeof wire.status === 'object')
  );
}
