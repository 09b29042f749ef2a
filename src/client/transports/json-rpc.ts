/**
 * JSON-RPC transport for all dialects with methods.
 *
 * @module
 */
import {
  type EventReader,
  rpcMethodName,
  type RequestOf,
  type ResultOf,
  type UnaryOperation,
} from '../../dialects/dialect.ts';
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
import {
  type OutboundRequest,
  requestBuffered,
  type RequestTarget,
  parseTarget,
} from '../http/send-request.ts';
import type { ClientSettings } from '../connect-options.ts';
import { decodeReportingLosses, encodeReportingLosses } from './loss-reporting.ts';
import type { ServerSentEvent } from '../../primitives/formats/sse.ts';
import { openFrameStream, skipFrame } from './frame-stream.ts';
import { isRepeatable, serviceParameters } from './service-parameters.ts';
import { streamOpenContext } from './stream-open-context.ts';

type Envelope = { id?: unknown; result?: unknown; error?: unknown };

/** Creates a JSON-RPC binding of an endpoint. */
export function jsonRpcBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  return new JsonRpcBinding(settings, endpoint);
}

class JsonRpcBinding implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #settings: ClientSettings;
  readonly #target: RequestTarget;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #methods = new Map<Operation, string>();
  #lastId = 0;

  constructor(settings: ClientSettings, endpoint: Endpoint) {
    this.endpoint = endpoint;
    this.#settings = settings;
    this.#target = parseTarget(endpoint.url);
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'user-agent': 'dragoman',
      ...(endpoint.dialect.version === '1.0' && { 'a2a-version': '1.0' }),
      ...settings.headers,
    };
    for (const operation of endpoint.dialect.methods.values()) {
      const method = rpcMethodName(endpoint.dialect, operation);
      if (method !== undefined) this.#methods.set(operation, method);
    }
  }

  async unary<O extends UnaryOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
  ): Promise<ResultOf[O]> {
    const id = ++this.#lastId;
    const response = await requestBuffered(this.#settings, this.#createRequest(operation, request, call, id));
    const result = this.#extractResult(response, response.text, id);
    try {
      return this.#decode(operation, (mode) => this.endpoint.dialect.results[operation].read(result, mode));
    } catch (thrown) {
      throw unreadableResponse(thrown, this.endpoint.url);
    }
  }

  open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    options: StreamOpenOptions,
  ): Promise<FrameStream> {
    const id = ++this.#lastId;
    const outbound = this.#createRequest(operation, request, call, id);
    outbound.headers = { ...outbound.headers, accept: 'text/event-stream, application/json' };
    if (options.lastEventId !== undefined)
      outbound.headers = { ...outbound.headers, 'last-event-id': options.lastEventId };
    const reader = this.endpoint.dialect.eventReader(streamOpenContext(operation, request));
    return openFrameStream(
      this.#settings,
      outbound,
      {
        decodeFrame: (event) => this.#decodeFrame(event, reader),
        decodeBuffered: (response, text) => [
          { events: this.#decodeBuffered(response, text, id), id: undefined },
        ],
      },
      options.signal,
    );
  }

  #createRequest<O extends Operation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    id: number,
  ): OutboundRequest {
    const { dialect, tenant } = this.endpoint;
    const method = this.#methods.get(operation);
    if (method === undefined) throw unsupportedByVersion(this.endpoint, operation);
    const context = { operation, url: this.endpoint.url };
    let params = encodeReportingLosses(this.#settings, context, (losses) =>
      dialect.requests[operation].write(request, losses),
    );
    if (tenant !== undefined) params = { tenant, ...(params as object) };
    return {
      operation,
      isRepeatable: isRepeatable(request, this.endpoint.card),
      method: 'POST',
      target: this.#target,
      headers: { ...this.#headers, ...serviceParameters(dialect, request, call) },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      call,
      auth: this.#settings.auth,
      card: this.endpoint.card,
    };
  }

  /** Returns the result, or throws the error in the response. `error: null` is not an error. */
  #extractResult(response: ResponseInfo, text: string, id: number): unknown {
    const body = parseJsonOrUndefined(text);
    if (!isEnvelope(body)) throw notA2AResponse(this.endpoint, response, text);
    if (body.error !== undefined && body.error !== null) {
      const error = this.endpoint.dialect.rpcError.read(body.error, response.status);
      throw refineError(error, this.endpoint, response);
    }
    if (response.status >= 400) throw notA2AResponse(this.endpoint, response, text);
    if (!matchesId(body.id, id))
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `Response to request ${JSON.stringify(body.id)} instead of ${id}`,
        {
          hint: 'A proxy in front of the agent may mix up responses.',
        },
      );
    return body.result;
  }

  /** Ignores the request id: agents that share events between connections may send the id of another request. */
  #decodeFrame(event: ServerSentEvent, reader: EventReader): StreamFrame {
    const body = parseJsonOrUndefined(event.data);
    if (!isEnvelope(body)) return skipFrame(this.#settings, event, 'not a JSON-RPC response');
    if (body.error !== undefined && body.error !== null)
      return { events: [], id: event.id, error: this.endpoint.dialect.rpcError.read(body.error) };
    try {
      const events = this.#decode('stream', (mode) => reader.read(body.result, mode));
      return { events, id: event.id };
    } catch (thrown) {
      return skipFrame(this.#settings, event, A2AError.from(thrown).message, thrown);
    }
  }

  #decode<T>(operation: Operation, decode: (mode: DecodeMode) => T): T {
    return decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, decode);
  }

  /** An agent that does not stream may respond with the task or the message. */
  #decodeBuffered(response: ResponseInfo, text: string, id: number): readonly StreamEvent[] {
    const body = this.#extractResult(response, text, id);
    try {
      const result = this.#decode('stream', (mode) => this.endpoint.dialect.results.send.read(body, mode));
      return [isTask(result) ? { kind: 'task', task: result } : { kind: 'message', message: result }];
    } catch (thrown) {
      throw unreadableResponse(thrown, this.endpoint.url);
    }
  }
}

function isEnvelope(body: unknown): body is Envelope {
  return (
    typeof body === 'object' &&
    body !== null &&
    ('jsonrpc' in body || 'id' in body) &&
    ('result' in body || 'error' in body || 'id' in body)
  );
}

/** Some agents return the id as a string or omit it. */
function matchesId(id: unknown, expected: number): boolean {
  return id === expected || id === undefined || id === null || id === String(expected);
}
