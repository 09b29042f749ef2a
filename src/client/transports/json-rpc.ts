/**
 * The JSON-RPC transport, in the words of any dialect that has methods.
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
import { openFrameStream } from './frame-stream.ts';
import { streamOpenContext } from './stream-open-context.ts';

type Envelope = { id?: unknown; result?: unknown; error?: unknown };

/** Binds JSON-RPC to an endpoint. */
export function jsonRpcBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  return new JsonRpc(settings, endpoint);
}

class JsonRpc implements TransportBinding {
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
    const answer = await requestBuffered(this.#settings, this.#ask(operation, request, call, id));
    const result = this.#result(answer, answer.text, id);
    try {
      return this.#read(operation, (reading) =>
        this.endpoint.dialect.results[operation].read(result, reading),
      );
    } catch (thrown) {
      throw unreadableResponse(thrown, this.endpoint.url);
    }
  }

  open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    opening: StreamOpenOptions,
  ): Promise<FrameStream> {
    const id = ++this.#lastId;
    const ask = this.#ask(operation, request, call, id);
    ask.headers = { ...ask.headers, accept: 'text/event-stream, application/json' };
    if (opening.lastEventId !== undefined)
      ask.headers = { ...ask.headers, 'last-event-id': opening.lastEventId };
    const reader = this.endpoint.dialect.eventReader(streamOpenContext(operation, request));
    return openFrameStream(
      this.#settings,
      ask,
      {
        frame: (event) => this.#frame(event, reader),
        whole: (response, text) => [{ events: this.#whole(response, text, id), id: undefined }],
      },
      opening.signal,
    );
  }

  #ask<O extends Operation>(
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
    let headers = this.#headers;
    if (dialect.extensionsHeader !== undefined && call.extensions && call.extensions.length > 0)
      headers = { ...headers, [dialect.extensionsHeader]: call.extensions.join(',') };
    return {
      operation,
      method: 'POST',
      target: this.#target,
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
      call,
      auth: this.#settings.auth,
      card: this.endpoint.card,
    };
  }

  /** The result of an answer, or the error that it carries. An explicit `error: null` is no error. */
  #result(answered: ResponseInfo, text: string, id: number): unknown {
    const body = parseJsonOrUndefined(text);
    if (!isEnvelope(body)) throw notA2AResponse(this.endpoint, answered, text);
    if (body.error !== undefined && body.error !== null) {
      const error = this.endpoint.dialect.rpcError.read(body.error, answered.status);
      throw refineError(error, this.endpoint, answered);
    }
    if (answered.status >= 400) throw notA2AResponse(this.endpoint, answered, text);
    if (!isOurs(body.id, id))
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The agent answered request ${JSON.stringify(body.id)} instead of ${id}`,
        {
          hint: 'A proxy between here and the agent may mix up answers.',
        },
      );
    return body.result;
  }

  /** The connection says whose answer it is: an agent that shares its events may leave another id in them. */
  #frame(event: { data: string; id: string | undefined }, reader: EventReader): StreamFrame {
    const body = parseJsonOrUndefined(event.data);
    if (!isEnvelope(body)) return this.#skipped(event, 'is not a JSON-RPC answer');
    if (body.error !== undefined && body.error !== null)
      return { events: [], id: event.id, error: this.endpoint.dialect.rpcError.read(body.error) };
    try {
      const events = this.#read('stream', (reading) => reader.read(body.result, reading));
      return { events, id: event.id };
    } catch (thrown) {
      return this.#skipped(event, A2AError.from(thrown).message, thrown);
    }
  }

  #read<T>(operation: Operation, read: (reading: DecodeMode) => T): T {
    return decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, read);
  }

  #skipped(event: { data: string; id: string | undefined }, why: string, cause?: unknown): StreamFrame {
    const message = `Skipped an event of a stream, which ${why}`;
    this.#settings.report({
      kind: 'frame',
      message,
      error: new A2AError('INVALID_AGENT_RESPONSE', message, { cause: cause ?? event.data.slice(0, 2000) }),
    });
    return { events: [], id: event.id };
  }

  /** An agent that does not stream may still answer with the task or the message. */
  #whole(answered: ResponseInfo, text: string, id: number): readonly StreamEvent[] {
    const result = this.#result(answered, text, id);
    try {
      const answer = this.#read('stream', (reading) =>
        this.endpoint.dialect.results.send.read(result, reading),
      );
      return [isTask(answer) ? { kind: 'task', task: answer } : { kind: 'message', message: answer }];
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

/** Some peers print the id as a string, and some leave it out. */
function isOurs(answered: unknown, asked: number): boolean {
  return answered === asked || answered === undefined || answered === null || answered === String(asked);
}
