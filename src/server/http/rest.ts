import { NegotiationError, dialectForPath, parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { strictMode } from '../../dialects/translation-loss.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import { A2AError } from '../../protocol/errors.ts';
import { withChallenges } from '../auth/auth-error.ts';
import { HttpCallContext } from '../operations/http-call-context.ts';
import { RestEnvelope } from './stream-envelope.ts';
import { type HttpServerRequest, jsonResponse, type HttpServerResponse } from './http-message.ts';
import type { ServerContext } from './server-context.ts';
import { withRetryAfter } from '../limits/limits.ts';
import { type OperationCall, isStreamingOperation, type OpenedStream } from '../operations/invoke-agent.ts';
import { executeUnary, executeStream } from '../operations/execute.ts';
import { mergeRestParams } from './rest-params.ts';
import { type RouteMatch, RouteTable } from './route-table.ts';
import { SseStream } from './sse-stream.ts';

const tables: ReadonlyMap<Dialect, RouteTable> = new Map([
  [v1_0, new RouteTable(v1_0)],
  [v0_3_rest, new RouteTable(v0_3_rest)],
]);

/** A route, whose it is, and the tenant in front of it. */
interface Found extends RouteMatch {
  dialect: Dialect;
  tenant: string | undefined;
}

/** Answers a REST request. `body` is undefined where none came. Never rejects. */
export function handleRest(
  face: ServerContext,
  exchange: HttpServerRequest,
  path: string,
  body: unknown,
  versionText?: string,
): Promise<HttpServerResponse> | HttpServerResponse {
  let dialect: Dialect = v1_0;
  if (exchange.telemetry) exchange.telemetry.transport = 'HTTP+JSON';
  const fail = (thrown: unknown): HttpServerResponse => {
    const error = A2AError.from(thrown);
    face.report(error, exchange);
    return restErrorResponse(error, thrown instanceof NegotiationError ? restOf(thrown.dialect) : dialect);
  };
  try {
    dialect = dialectForPath(path, parseVersionHeader(versionText));
    const found = find(dialect, exchange.method, path);
    const asked = readAsked(face, exchange, found, body);
    const go = (): Promise<HttpServerResponse> | HttpServerResponse => {
      if (!isStreamingOperation(asked.operation)) {
        const { status = 200 } = found.route;
        return executeUnary(face, exchange, asked).then(
          (text) => keptBy(asked.operation, jsonResponse(status, text, dialect.restMediaType)),
          fail,
        );
      }
      const opening = executeStream(face, exchange, asked, (opened) => streamOf(face, asked, opened));
      return opening instanceof Promise ? opening.catch(fail) : opening;
    };
    return face.authorizer ? face.authorizer.check(exchange, asked).then(go).catch(fail) : go();
  } catch (thrown) {
    return fail(thrown);
  }
}

/** The extended card is for whoever asked, and no cache between may give it to others. */
function keptBy(operation: string, reply: HttpServerResponse): HttpServerResponse {
  if (operation === 'extendedCard') reply.headers.push('Cache-Control', 'private, no-cache');
  return reply;
}

function restOf(dialect: Dialect): Dialect {
  return dialect.version === '1.0' ? v1_0 : v0_3_rest;
}

/** The reply to a request that failed. */
export function restErrorResponse(error: A2AError, dialect: Dialect): HttpServerResponse {
  const { status, body } = dialect.restError.write(error);
  const reply = jsonResponse(status, JSON.stringify(body), dialect.restMediaType);
  if (error.reason === 'METHOD_NOT_ALLOWED' && error.details.allow)
    reply.headers.push('Allow', error.details.allow);
  return withRetryAfter(withChallenges(reply, error), error);
}

/** True when a path is one of REST, so that whoever is refused there is told in its words. */
export function isRestPath(dialect: Dialect, verb: string, path: string): boolean {
  try {
    find(dialect, verb, path);
    return true;
  } catch (error) {
    return error instanceof A2AError && error.reason !== 'NOT_FOUND';
  }
}

/** Finds a route of 1.0 with or without a tenant in front, or one of 0.3. */
function find(dialect: Dialect, verb: string, path: string): Found {
  const table = tables.get(dialect);
  // 0.3 by its header, but without the prefix of its paths.
  const whole = dialect === v0_3_rest && !path.startsWith('/v1/') ? `/v1${path}` : path;
  let lookup = table?.find(verb, whole);
  let tenant: string | undefined;
  if (!lookup && dialect === v1_0) {
    const slash = path.indexOf('/', 1);
    if (slash > 1) {
      tenant = decodeSegment(path.slice(1, slash));
      lookup = table?.find(verb, path.slice(slash));
    }
  }
  if (!lookup) throw new A2AError('NOT_FOUND', `There is nothing at ${path.slice(0, 200)}`);
  if ('allowed' in lookup) {
    const allow = lookup.allowed.join(', ');
    throw new A2AError('METHOD_NOT_ALLOWED', `This path takes ${allow}`, { details: { allow } });
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

function readAsked(
  face: ServerContext,
  exchange: HttpServerRequest,
  found: Found,
  body: unknown,
): OperationCall {
  const { dialect, route } = found;
  const params = mergeRestParams(exchange.query, found.params, body) as { tenant?: unknown };
  const request = dialect.requests[route.operation].read(params, strictMode);
  const named =
    dialect === v1_0 && typeof params.tenant === 'string' && params.tenant !== '' ? params.tenant : undefined;
  const call = new HttpCallContext(exchange, dialect.version, found.tenant ?? named);
  if (isStreamingOperation(route.operation)) face.readAfter(exchange, request);
  return {
    agent: face.agent,
    dialect,
    operation: route.operation,
    request,
    call,
    texts: face.serializationCache(dialect),
    visit: exchange.telemetry,
    place: (card) =>
      dialect === v1_0 ? face.cards.signed(card, exchange) : face.cards.placed(card, exchange),
  };
}

function streamOf(
  face: ServerContext,
  { dialect }: OperationCall,
  { events, first }: OpenedStream,
): SseStream {
  const envelope = new RestEnvelope(dialect);
  return new SseStream(events, first, envelope, dialect.eventWriter(), face.serializationCache(dialect));
}
