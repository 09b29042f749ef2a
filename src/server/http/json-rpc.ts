import {
  NegotiationError,
  dialectForMethod,
  dialectForVersion,
  type MethodMatch,
  parseVersionHeader,
} from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { strictMode, strictModeFor } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { withChallenges } from '../auth/auth-error.ts';
import type { Task } from '../../protocol/task.ts';
import { HttpCallContext } from '../operations/http-call-context.ts';
import { RpcEnvelope } from './stream-envelope.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from './http-message.ts';
import {
  type OperationCall,
  isStreamingOperation,
  type OpenedStream,
  resolveStreamTask,
} from '../operations/invoke-agent.ts';
import type { ServerContext } from './server-context.ts';
import { withRetryAfter } from '../limits/limits.ts';
import { executeUnary, executeStream } from '../operations/execute.ts';
import { SseStream } from './sse-stream.ts';
import { versionForErrors } from './requested-version.ts';

/** A JSON-RPC request whose envelope is right. */
interface RpcRequest {
  id: string | number | null;
  method: string;
  params: unknown;
}

/** Faults that a proxy or a browser on the way should see too; the others are news for the caller alone. */
const visibleReasons = new Set([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'PAYLOAD_TOO_LARGE',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]);

/**
 * Answers a JSON-RPC request, given its parsed body. Never rejects.
 *
 * A chain of callbacks and not of functions that await each other: this is where most requests pass, and each link
 * costs as much as reading the message.
 */
export function handleRpc(
  face: ServerContext,
  exchange: HttpServerRequest,
  body: unknown,
  versionText?: string,
): Promise<HttpServerResponse> | HttpServerResponse {
  let id: RpcRequest['id'] = null;
  let dialect: Dialect | undefined;
  let isStream = false;
  if (exchange.telemetry) exchange.telemetry.transport = 'JSONRPC';
  const fail = (thrown: unknown): HttpServerResponse => {
    const error = A2AError.from(thrown);
    face.report(error, exchange);
    const spoken = thrown instanceof NegotiationError ? thrown.dialect : (dialect ?? unread(versionText));
    return isStream && !visibleReasons.has(error.reason) && wantsEventsOnly(exchange, spoken)
      ? face.streamResponse(failedStream(error, id, spoken), exchange)
      : rpcErrorResponse(error, id, spoken);
  };
  try {
    const request = readEnvelope(body);
    id = request.id;
    const version = parseVersionHeader(versionText);
    dialect = dialectForVersion(version);
    const choice = dialectForMethod(request.method, version, {
      path: exchange.path,
      lenient: face.isLenient,
    });
    // Where it may be of either version, an error of 0.1 is legal in both.
    dialect = choice.ambiguous ? v0_1 : choice.dialect;
    isStream = isStreamingOperation(choice.operation);
    const asked = readAsked(face, exchange, request, choice);
    const go = (): Promise<HttpServerResponse> | HttpServerResponse => {
      if (!isStream) {
        const answering = executeUnary(face, exchange, asked, choice.ambiguous ? () => v0_1 : undefined);
        return answering.then((text) => resultReply(id, text), fail);
      }
      const opening = executeStream(face, exchange, asked, (opened) =>
        streamOf(face, asked, id, { choice, opened }),
      );
      return opening instanceof Promise ? opening.catch(fail) : opening;
    };
    return face.authorizer ? face.authorizer.check(exchange, asked).then(go).catch(fail) : go();
  } catch (thrown) {
    return fail(thrown);
  }
}

function resultReply(id: RpcRequest['id'], text: string): HttpServerResponse {
  return jsonResponse(200, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
}

/** The dialect to refuse a request in that could not be read so far as to tell. */
function unread(versionText: string | undefined): Dialect {
  const version = versionForErrors(versionText);
  return version === undefined ? v1_0 : dialectForVersion(version);
}

/** The clients before 1.0 that ask for events alone do not read an error that comes as anything else. */
function wantsEventsOnly({ headers }: HttpServerRequest, { version }: Dialect): boolean {
  return version !== '1.0' && singleHeader(headers, 'accept')?.trim() === 'text/event-stream';
}

function failedStream(error: A2AError, id: RpcRequest['id'], dialect: Dialect): SseStream {
  const events: AsyncIterator<StreamEvent> = {
    async next() {
      throw error;
    },
  };
  return new SseStream(events, undefined, new RpcEnvelope(id, dialect), dialect.eventWriter(), undefined);
}

/** The reply to a request that failed. */
export function rpcErrorResponse(
  error: A2AError,
  id: RpcRequest['id'],
  dialect: Dialect,
): HttpServerResponse {
  const status = visibleReasons.has(error.reason) ? errorTable[error.reason].http : 200;
  const text = JSON.stringify({ jsonrpc: '2.0', id, error: dialect.rpcError.write(error) });
  return withRetryAfter(withChallenges(jsonResponse(status, text), error), error);
}

function readEnvelope(body: unknown): RpcRequest {
  if (Array.isArray(body))
    throw new A2AError('INVALID_REQUEST', 'Batches are not supported: send one request at a time');
  if (typeof body !== 'object' || body === null)
    throw new A2AError('INVALID_REQUEST', 'A request is a JSON object');
  const { jsonrpc, id, method, params } = body as { [key: string]: unknown };
  if (typeof method !== 'string') throw new A2AError('INVALID_REQUEST', 'method must be a string');
  // The first schema of 0.1 left the mark out, and its methods tell enough.
  if (jsonrpc !== '2.0' && !(jsonrpc === undefined && v0_1.methods.has(method) && isOnlyIn0_1(method))) {
    throw new A2AError('INVALID_REQUEST', 'jsonrpc must be "2.0"');
  }
  if (id !== undefined && id !== null && typeof id !== 'string' && !Number.isFinite(id)) {
    throw new A2AError('INVALID_REQUEST', 'id must be a string, a number or null');
  }
  return { id: (id as RpcRequest['id']) ?? null, method, params };
}

function isOnlyIn0_1(method: string): boolean {
  return method === 'tasks/send' || method === 'tasks/sendSubscribe';
}

function readAsked(
  face: ServerContext,
  exchange: HttpServerRequest,
  { id, params }: RpcRequest,
  { dialect, operation }: MethodMatch,
): OperationCall {
  // Messages of 0.1 have no ids, so their requests tell them apart.
  const reading = dialect === v0_1 ? strictModeFor(id) : strictMode;
  const request = dialect.requests[operation].read(params, reading);
  const tenant = dialect.version === '1.0' ? tenantOf(params) : undefined;
  const call = new HttpCallContext(exchange, dialect.version, tenant);
  if (isStreamingOperation(operation)) face.readAfter(exchange, request);
  return {
    agent: face.agent,
    dialect,
    operation,
    request,
    call,
    texts: face.serializationCache(dialect),
    visit: exchange.telemetry,
    place: (card) =>
      dialect === v1_0 ? face.cards.signed(card, exchange) : face.cards.placed(card, exchange),
  };
}

function tenantOf(params: unknown): string | undefined {
  const tenant = (params as { tenant?: unknown } | undefined)?.tenant;
  return typeof tenant === 'string' && tenant !== '' ? tenant : undefined;
}

function streamOf(
  face: ServerContext,
  asked: OperationCall,
  id: RpcRequest['id'],
  { choice, opened: { events, first } }: { choice: MethodMatch; opened: OpenedStream },
): Promise<SseStream> | SseStream {
  const make = (dialect: Dialect, task?: Task): SseStream => {
    const texts = dialect.canShareEventJson ? face.serializationCache(dialect) : undefined;
    return new SseStream(events, first, new RpcEnvelope(id, dialect), dialect.eventWriter(task), texts);
  };
  if (!choice.ambiguous && asked.dialect !== v0_1) return make(asked.dialect);
  const spoken = (task: Task | undefined): SseStream =>
    make(choice.ambiguous && task?.originVersion === '0.1' ? v0_1 : asked.dialect, task);
  return first?.kind === 'task' ? spoken(first.task) : resolveStreamTask(asked, first).then(spoken);
}
