/**
 * The REST transport, in the words of any dialect that has routes.
 *
 * @module
 */
import type {
  EventReader,
  RequestCodec,
  RequestOf,
  RestRoute,
  ResultOf,
  UnaryOperation,
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
import { type OutboundRequest, requestBuffered } from '../http/send-request.ts';
import type { ClientSettings } from '../connect-options.ts';
import { decodeReportingLosses, encodeReportingLosses } from './loss-reporting.ts';
import { openFrameStream } from './frame-stream.ts';
import type { ServerSentEvent } from '../../primitives/formats/sse.ts';
import { streamOpenContext } from './stream-open-context.ts';

type Fields = { [name: string]: unknown };

/** Binds REST to an endpoint. */
export function restBinding(settings: ClientSettings, endpoint: Endpoint): TransportBinding {
  return new Rest(settings, endpoint);
}

class Rest implements TransportBinding {
  readonly endpoint: Endpoint;
  readonly #settings: ClientSettings;
  readonly #origin: string;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #routes = new Map<Operation, RestRoute[]>();

  constructor(settings: ClientSettings, endpoint: Endpoint) {
    const { dialect, tenant } = endpoint;
    const url = new URL(endpoint.url);
    const tenantPath = tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
    this.endpoint = endpoint;
    this.#settings = settings;
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/+$/, '') + tenantPath;
    this.#headers = {
      accept: accepted(dialect.restMediaType),
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
    return this.#byRoute(operation, async (route) => {
      const answer = await requestBuffered(this.#settings, this.#ask(route, request, call));
      const result = this.#result(answer, answer.text, route);
      try {
        return this.#read(operation, (reading) =>
          this.endpoint.dialect.results[operation].read(result, reading),
        );
      } catch (thrown) {
        throw unreadableResponse(thrown, this.endpoint.url);
      }
    });
  }

  open<O extends StreamingOperation>(
    operation: O,
    request: RequestOf[O],
    call: CallContext,
    opening: StreamOpenOptions,
  ): Promise<FrameStream> {
    return this.#byRoute(operation, (route) => {
      const ask = this.#ask(route, request, call);
      ask.headers = { ...ask.headers, accept: `text/event-stream, ${ask.headers.accept}` };
      if (opening.lastEventId !== undefined)
        ask.headers = { ...ask.headers, 'last-event-id': opening.lastEventId };
      const reader = this.endpoint.dialect.eventReader(streamOpenContext(operation, request));
      return openFrameStream(
        this.#settings,
        ask,
        {
          frame: (event) => this.#frame(event, reader),
          whole: (response, text) => [{ events: this.#whole(response, text, route), id: undefined }],
        },
        opening.signal,
      );
    });
  }

  /** Tries the routes of an operation in turn where the peer does not have the first, and keeps to the one that it has. */
  async #byRoute<T>(operation: Operation, ask: (route: RestRoute) => Promise<T>): Promise<T> {
    const routes = this.#routes.get(operation) ?? [];
    let refused: unknown;
    for (const [i, route] of routes.entries()) {
      try {
        const answer = await ask(route);
        if (i > 0) this.#routes.set(operation, [route, ...routes.filter((each) => each !== route)]);
        return answer;
      } catch (thrown) {
        const { reason } = A2AError.from(thrown);
        if (reason !== 'NOT_FOUND' && reason !== 'METHOD_NOT_ALLOWED' && reason !== 'METHOD_NOT_FOUND')
          throw thrown;
        refused ??= thrown;
      }
    }
    throw refused ?? unsupportedByVersion(this.endpoint, operation);
  }

  #ask(route: RestRoute, request: RequestOf[Operation], call: CallContext): OutboundRequest {
    const { dialect } = this.endpoint;
    const { operation, verb } = route;
    const codec = dialect.requests[operation] as RequestCodec<RequestOf[Operation]>;
    const context = { operation, url: this.endpoint.url };
    const written = encodeReportingLosses(this.#settings, context, (losses) => codec.write(request, losses));
    const { path, rest } = this.#fill(route.path, written as Fields | undefined);
    const headers: Record<string, string> = { ...this.#headers };
    if (dialect.extensionsHeader !== undefined && call.extensions && call.extensions.length > 0)
      headers[dialect.extensionsHeader] = call.extensions.join(',');
    const ask: OutboundRequest = {
      operation,
      method: verb,
      target: { origin: this.#origin, path: verb === 'POST' ? path : path + queryOf(rest) },
      headers,
      call,
      auth: this.#settings.auth,
      card: this.endpoint.card,
    };
    if (verb === 'POST') {
      headers['content-type'] = dialect.restMediaType;
      ask.body = JSON.stringify(rest);
    }
    return ask;
  }

  /** Puts the parameters of the path where they belong and gives the others back. */
  #fill(template: string, params: Fields | undefined): { path: string; rest: Fields } {
    const rest: Fields = { ...params };
    const taken: string[] = [];
    const path = template.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
      taken.push(name);
      return encodeURIComponent(plain(rest[name]));
    });
    for (const name of taken) delete rest[name];
    // Some cards name the address with the version already in it.
    const whole =
      path.startsWith('/v1/') && this.#base.endsWith('/v1') ? this.#base + path.slice(3) : this.#base + path;
    return { path: whole, rest };
  }

  #result(answered: ResponseInfo, text: string, route: RestRoute): unknown {
    if (text === '' && answered.status < 300) return undefined;
    const body = parseJsonOrUndefined(text);
    if (answered.status >= 400) {
      if (!saysWhatIsWrong(body)) throw notA2AResponse(this.endpoint, answered, text);
      const error = this.endpoint.dialect.restError.read(body, answered.status);
      throw refineError(missing(error, body, route), this.endpoint, answered);
    }
    if (body === undefined) throw notA2AResponse(this.endpoint, answered, text);
    return body;
  }

  #frame(event: ServerSentEvent, reader: EventReader): StreamFrame {
    const body = parseJsonOrUndefined(event.data);
    if (typeof body !== 'object' || body === null) return this.#skipped(event, 'is not JSON');
    const wire = body as Fields;
    if (event.event === 'error' || saysWhatIsWrong(body)) {
      const { code } = (wire.error ?? wire) as Fields;
      const status = typeof code === 'number' && code >= 400 && code < 600 ? code : 500;
      return { events: [], id: event.id, error: this.endpoint.dialect.restError.read(body, status) };
    }
    try {
      const events = this.#read('stream', (reading) => reader.read(body, reading));
      return { events, id: event.id };
    } catch (thrown) {
      return this.#skipped(event, A2AError.from(thrown).message, thrown);
    }
  }

  #read<T>(operation: Operation, read: (reading: DecodeMode) => T): T {
    return decodeReportingLosses(this.#settings, { operation, url: this.endpoint.url }, read);
  }

  #skipped(event: ServerSentEvent, why: string, cause?: unknown): StreamFrame {
    const message = `Skipped an event of a stream, which ${why}`;
    this.#settings.report({
      kind: 'frame',
      message,
      error: new A2AError('INVALID_AGENT_RESPONSE', message, { cause: cause ?? event.data.slice(0, 2000) }),
    });
    return { events: [], id: event.id };
  }

  #whole(answered: ResponseInfo, text: string, route: RestRoute): readonly StreamEvent[] {
    const result = this.#result(answered, text, route);
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

function accepted(mediaType: string): string {
  return mediaType === 'application/json' ? mediaType : `${mediaType}, application/json`;
}

/** A scalar as it stands in an address. */
function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function queryOf(fields: Fields): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) query.set(name, plain(value));
  }
  const text = query.toString();
  return text === '' ? '' : `?${text}`;
}

/**
 * Some agents say no more than that something is not there. Where the address names a task, that is the task; a framework
 * that does not know the address at all says it in other words.
 */
function missing(error: A2AError, body: unknown, { path }: RestRoute): A2AError {
  const outer = body as Fields;
  const inner = (typeof outer.error === 'object' && outer.error !== null ? outer.error : outer) as Fields;
  const isPlain = error.status === 404 && !Array.isArray(inner.details) && !(Number(inner.code) < 0);
  if (!isPlain) return error;
  const reason = typeof inner.message === 'string' && path.includes('{') ? 'TASK_NOT_FOUND' : 'NOT_FOUND';
  const { message, status, cause, details } = error;
  return new A2AError(reason, message, { status, cause, details });
}

/** True for the error bodies of every version: wrapped, bare, or problem details. */
function saysWhatIsWrong(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  const wire = body as Fields;
  if (typeof wire.error === 'object' && wire.error !== null) return true;
  return (
    (typeof wire.message === 'string' || typeof wire.detail === 'string' || typeof wire.title === 'string') &&
    !('status' in wire && typeof wire.status === 'object')
  );
}
