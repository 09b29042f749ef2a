import {
  NegotiationError,
  dialectForMethod,
  dialectForVersion,
  type MethodMatch,
  parseVersionHeader,
} from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { maxLengths } from '../../dialects/field-readers.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { withChallenges } from '../auth/auth-error.ts';
import { authorizeCall } from '../auth/call-policy.ts';
import type { Task } from '../../protocol/task.ts';
import { RpcEnvelope } from './stream-envelope.ts';
import {
  type HttpServerRequest,
  singleHeader,
  jsonResponse,
  type HttpServerResponse,
} from './http-message.ts';
import { type OperationCall, type OpenedStream, resolveStreamTask } from '../operations/invoke-agent.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import type { ServerContext } from './server-context.ts';
import { withRetryAfter } from '../limits/limits.ts';
import { outputExceeded } from '../limits/server-budgets.ts';
import { executeUnary, executeStream } from '../operations/execute.ts';
import { readOperationCall } from '../operations/read-operation-call.ts';
import { SseStream } from './sse-stream.ts';
import { versionForErrors } from './requested-version.ts';

/** A JSON-RPC request with a valid envelope. */
interface RpcRequest {
  id: string | number | null;
  method: string;
  params: unknown;
}

/** Errors with their own HTTP status, for proxies and browsers. All others are sent with status 200. */
const visibleReasons = new Set([
  'UNAUTHENTICATED',
  'PERMISSION_DENIED',
  'PAYLOAD_TOO_LARGE',
  'RESOURCE_EXHAUSTED',
  'UNAVAILABLE',
]);

/**
 * Handles a JSON-RPC request with parsed body. Never rejects.
 *
 * Hot path: uses callbacks instead of async functions, because each `await` costs as much as parsing the message.
 */
export function handleRpc(
  context: ServerContext,
  request: HttpServerRequest,
  body: unknown,
  versionText?: string,
): Promise<HttpServerResponse> | HttpServerResponse {
  let id: RpcRequest['id'] = null;
  let dialect: Dialect | undefined;
  let isStream = false;
  let isCounted = false;
  if (request.telemetry) request.telemetry.transport = 'JSONRPC';
  const fail = (thrown: unknown): HttpServerResponse => {
    const error = (isCounted ? undefined : context.limiter.takeRate(request)) ?? A2AError.from(thrown);
    isCounted = true;
    context.report(error, request);
    const errorDialect =
      thrown instanceof NegotiationError ? thrown.dialect : (dialect ?? dialectForErrors(versionText));
    return isStream && !visibleReasons.has(error.reason) && wantsEventsOnly(request, errorDialect)
      ? context.streamResponse(createErrorStream(error, id, errorDialect), request)
      : rpcErrorResponse(error, id, errorDialect);
  };
  try {
    const rpcRequest = readEnvelope(body);
    id = rpcRequest.id;
    isCounted = true;
    const limited = context.limiter.takeRate(request);
    if (limited) throw limited;
    const version = parseVersionHeader(versionText);
    dialect = dialectForVersion(version);
    const match = dialectForMethod(rpcRequest.method, version, {
      path: request.path,
      lenient: context.isLenient,
    });
    // If the version is ambiguous, a 0.1 error is valid in both versions.
    dialect = match.ambiguous ? v0_1 : match.dialect;
    isStream = isStreamingOperation(match.operation);
    const operationCall = readOperationCall(context, request, match, rpcRequest.params);
    const execute = (): Promise<HttpServerResponse> | HttpServerResponse => {
      if (!isStream) {
        const pending = executeUnary(
          context,
          request,
          operationCall,
          match.ambiguous ? () => v0_1 : undefined,
        );
        return pending.then(
          (text) =>
            context.budgets.reserveOutput(request, resultResponse(id, text)) ?? fail(outputExceeded()),
          fail,
        );
      }
      const opening = executeStream(context, request, operationCall, (opened) =>
        createSseStream(context, operationCall, id, { match, opened }),
      );
      return opening instanceof Promise ? opening.catch(fail) : opening;
    };
    const authorized = authorizeCall(context, request, operationCall, 'JSONRPC', match.ambiguous);
    return authorized ? authorized.then(execute).catch(fail) : execute();
  } catch (thrown) {
    return fail(thrown);
  }
}

function resultResponse(id: RpcRequest['id'], text: string): HttpServerResponse {
  return jsonResponse(200, `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`);
}

/** Returns the dialect of the error response if the request could not be parsed. */
function dialectForErrors(versionText: string | undefined): Dialect {
  const version = versionForErrors(versionText);
  return version === undefined ? v1_0 : dialectForVersion(version);
}

/** Clients before 1.0 that accept only `text/event-stream` ignore errors in another format. */
function wantsEventsOnly({ headers }: HttpServerRequest, { version }: Dialect): boolean {
  return version !== '1.0' && singleHeader(headers, 'accept')?.trim() === 'text/event-stream';
}

function createErrorStream(error: A2AError, id: RpcRequest['id'], dialect: Dialect): SseStream {
  const events: AsyncIterator<StreamEvent> = {
    async next() {
      throw error;
    },
  };
  return new SseStream(events, undefined, new RpcEnvelope(id, dialect), dialect.eventWriter(), undefined);
}

/** Creates a JSON-RPC error response. */
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
  if (Array.isArray(body)) throw new A2AError('INVALID_REQUEST', 'JSON-RPC batches are not supported');
  if (typeof body !== 'object' || body === null)
    throw new A2AError('INVALID_REQUEST', 'The request must be a JSON object');
  const { jsonrpc, id, method, params } = body as { [key: string]: unknown };
  if (typeof method !== 'string') throw new A2AError('INVALID_REQUEST', 'method must be a string');
  // The first schema of 0.1 has no `jsonrpc` member; its methods are unique.
  if (jsonrpc !== '2.0' && !(jsonrpc === undefined && v0_1.methods.has(method) && isOnlyIn0_1(method))) {
    throw new A2AError('INVALID_REQUEST', 'jsonrpc must be "2.0"');
  }
  if (id !== undefined && id !== null && typeof id !== 'string' && !Number.isFinite(id)) {
    throw new A2AError('INVALID_REQUEST', 'id must be a string, a number or null');
  }
  if (typeof id === 'string' && id.length > maxLengths.id)
    throw new A2AError('INVALID_REQUEST', `id must have at most ${maxLengths.id} characters`);
  return { id: (id as RpcRequest['id']) ?? null, method, params };
}

function isOnlyIn0_1(method: string): boolean {
  return method === 'tasks/send' || method === 'tasks/sendSubscribe';
}

function createSseStream(
  context: ServerContext,
  operationCall: OperationCall,
  id: RpcRequest['id'],
  { match, opened: { events, first } }: { match: MethodMatch; opened: OpenedStream },
): Promise<SseStream> | SseStream {
  const createStream = (dialect: Dialect, task?: Task): SseStream => {
    const cache = dialect.canShareEventJson ? context.serializationCache(dialect) : undefined;
    return new SseStream(events, first, new RpcEnvelope(id, dialect), dialect.eventWriter(task), cache);
  };
  if (!match.ambiguous && operationCall.dialect !== v0_1) return createStream(operationCall.dialect);
  const errorDialect = (task: Task | undefined): SseStream =>
    createStream(match.ambiguous && task?.originVersion === '0.1' ? v0_1 : operationCall.dialect, task);
  return first?.kind === 'task'
    ? errorDialect(first.task)
    : resolveStreamTask(operationCall, first).then(errorDialect);
}
