import { NegotiationError, dialectForPath, parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { A2AError } from '../../protocol/errors.ts';
import { withChallenges } from '../auth/auth-error.ts';
import { authorizeCall } from '../auth/call-policy.ts';
import { RestEnvelope } from './stream-envelope.ts';
import { type HttpServerRequest, jsonResponse, type HttpServerResponse } from './http-message.ts';
import type { ServerContext } from './server-context.ts';
import { withRetryAfter } from '../limits/limits.ts';
import { outputExceeded } from '../limits/server-budgets.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import type { OperationCall, OpenedStream } from '../operations/invoke-agent.ts';
import { executeUnary, executeStream } from '../operations/execute.ts';
import { readOperationCall } from '../operations/read-operation-call.ts';
import { mergeRestParams } from '../../dialects/http/rest-params.ts';
import { isReservedSegment } from './reserved-paths.ts';
import { type RouteMatch, RouteTable } from '../../dialects/http/route-table.ts';
import { SseStream } from './sse-stream.ts';

const tables: ReadonlyMap<Dialect, RouteTable> = new Map([
  [v1_0, new RouteTable(v1_0)],
  [v0_3_rest, new RouteTable(v0_3_rest)],
]);

/** A matched route with its dialect and the tenant prefix of the path. */
interface RestMatch extends RouteMatch {
  dialect: Dialect;
  tenant: string | undefined;
}

/** Handles a REST request; `body` is undefined if there is none. Never rejects. */
export function handleRest(
  context: ServerContext,
  request: HttpServerRequest,
  path: string,
  body: unknown,
  versionText?: string,
): Promise<HttpServerResponse> | HttpServerResponse {
  let dialect: Dialect = v1_0;
  if (request.telemetry) request.telemetry.transport = 'HTTP+JSON';
  const fail = (thrown: unknown): HttpServerResponse => {
    const error = A2AError.from(thrown);
    context.report(error, request);
    return restErrorResponse(
      error,
      thrown instanceof NegotiationError ? toRestDialect(thrown.dialect) : dialect,
    );
  };
  try {
    const limited = context.limiter.takeRate(request);
    if (limited) throw limited;
    dialect = dialectForPath(path, parseVersionHeader(versionText));
    const match = findRoute(dialect, request.method, path);
    const operationCall = readOperationCall(
      context,
      request,
      { dialect, operation: match.route.operation },
      mergeRestParams(request.query, match.params, body),
      match.tenant,
    );
    const execute = (): Promise<HttpServerResponse> | HttpServerResponse => {
      if (!isStreamingOperation(operationCall.operation)) {
        const { status = 200 } = match.route;
        return executeUnary(context, request, operationCall).then((text) => {
          const response = jsonResponse(status, text, dialect.restMediaType);
          return (
            context.budgets.reserveOutput(request, withCacheControl(operationCall.operation, response)) ??
            fail(outputExceeded())
          );
        }, fail);
      }
      const opening = executeStream(context, request, operationCall, (opened) =>
        createSseStream(context, operationCall, opened),
      );
      return opening instanceof Promise ? opening.catch(fail) : opening;
    };
    const authorized = authorizeCall(context, request, operationCall, 'HTTP+JSON');
    return authorized ? authorized.then(execute).catch(fail) : execute();
  } catch (thrown) {
    return fail(thrown);
  }
}

/** Prevents shared caches from storing the extended card. */
function withCacheControl(operation: string, response: HttpServerResponse): HttpServerResponse {
  if (operation === 'extendedCard') response.headers.push('Cache-Control', 'private, no-cache');
  return response;
}

function toRestDialect(dialect: Dialect): Dialect {
  return dialect.version === '1.0' ? v1_0 : v0_3_rest;
}

/** Creates a REST error response. */
export function restErrorResponse(error: A2AError, dialect: Dialect): HttpServerResponse {
  const { status, body } = dialect.restError.write(error);
  const response = jsonResponse(status, JSON.stringify(body), dialect.restMediaType);
  if (error.reason === 'METHOD_NOT_ALLOWED' && error.details.allow)
    response.headers.push('Allow', error.details.allow);
  return withRetryAfter(withChallenges(response, error), error);
}

/** Returns true if the path is a REST route, so that errors are sent in the REST format. */
export function isRestPath(dialect: Dialect, verb: string, path: string): boolean {
  try {
    findRoute(dialect, verb, path);
    return true;
  } catch (error) {
    return error instanceof A2AError && error.reason !== 'NOT_FOUND';
  }
}

/** Returns true if the path is a REST route of any version; clients may send JSON-RPC envelopes to it. */
export function isRestRoute(path: string): boolean {
  return isRestPath(v1_0, 'POST', path) || isRestPath(v0_3_rest, 'POST', path);
}

/** Finds a 1.0 route, with or without tenant prefix, or a 0.3 route. */
function findRoute(dialect: Dialect, verb: string, path: string): RestMatch {
  const table = tables.get(dialect);
  // A 0.3 request by its header, but without the path prefix.
  const prefixedPath = dialect === v0_3_rest && !path.startsWith('/v1/') ? `/v1${path}` : path;
  let lookup = table?.find(verb, prefixedPath);
  let tenant: string | undefined;
  if (!lookup && dialect === v1_0) {
    const slash = path.indexOf('/', 1);
    const segment = slash > 1 ? decodeSegment(path.slice(1, slash)) : '';
    if (segment !== '' && !isReservedSegment(segment)) {
      tenant = segment;
      lookup = table?.find(verb, path.slice(slash));
    }
  }
  if (!lookup) throw new A2AError('NOT_FOUND', `Not match: ${path.slice(0, 200)}`);
  if ('allowed' in lookup) {
    const allow = lookup.allowed.join(', ');
    throw new A2AError('METHOD_NOT_ALLOWED', `Method not allowed; allowed: ${allow}`, { details: { allow } });
  }
  return { route: lookup.route, params: lookup.params, dialect, tenant };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new A2AError('NOT_FOUND');
  }
}

function createSseStream(
  context: ServerContext,
  { dialect }: OperationCall,
  { events, first }: OpenedStream,
): SseStream {
  const envelope = new RestEnvelope(dialect);
  return new SseStream(events, first, envelope, dialect.eventWriter(), context.serializationCache(dialect));
}
