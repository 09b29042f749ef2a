import { isStreamingOperation, type Operation } from '../../protocol/agent.ts';
import type { ProtocolVariant } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { asJsonObject, type JsonObject } from '../../primitives/json.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { type Dialect, type RequestCodec, type RequestOf, rpcMethodName } from '../dialect.ts';
import { dialectForVariant } from '../negotiation.ts';
import { grpcServiceOf } from '../protobuf/grpc-service.ts';
import { type LossList, strictMode } from '../translation-loss.ts';
import { expandRoutePath, formatRestQuery, joinRoutePath } from './rest-path.ts';
import { mergeRestParams } from './rest-params.ts';
import { RouteTable } from './route-table.ts';

/** An operation of one version over one transport. */
export interface OperationVariant extends ProtocolVariant {
  readonly operation: Operation;
}

/** An HTTP request before it is serialized; the body of gRPC is ProtoJSON. */
export interface OperationRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Header names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON value; undefined if the request has no body. */
  readonly body: unknown;
}

/** Where a request is sent. */
export interface RequestDestination {
  /** URL of the interface. */
  readonly url: string;
  readonly tenant?: string | undefined;
}

/** Returns the codecs of a variant; undefined if the version has no such transport. */
export function dialectOfVariant({ version, transport }: ProtocolVariant): Dialect | undefined {
  return transport === 'GRPC' ? grpcServiceOf(version)?.dialect : dialectForVariant(version, transport);
}

/** Returns true if the version defines the operation over the transport. */
export function definesOperation({ operation, ...variant }: OperationVariant): boolean {
  const dialect = dialectOfVariant(variant);
  if (!dialect) return false;
  if (variant.transport === 'JSONRPC') return rpcMethodName(dialect, operation) !== undefined;
  if (variant.transport === 'HTTP+JSON') return dialect.routes.some((each) => each.operation === operation);
  return grpcServiceOf(variant.version)?.methods.some((each) => each.operation === operation) ?? false;
}

/**
 * Writes the HTTP request of an operation.
 *
 * @throws {@link A2AError} `UNSUPPORTED_OPERATION` if the variant does not define the operation.
 */
export function writeOperationRequest(
  target: OperationVariant,
  request: RequestOf[Operation],
  { url, tenant }: RequestDestination,
  losses?: LossList,
): OperationRequest {
  const { operation, transport, version } = target;
  const dialect = dialectOfVariant(target);
  if (!dialect || !definesOperation(target))
    throw new A2AError('UNSUPPORTED_OPERATION', `A2A ${version} over ${transport} has no ${operation}`);
  const codec = dialect.requests[operation] as RequestCodec<RequestOf[Operation]>;
  const params = withoutUndefined(codec.write(request, losses));
  const headers: Record<string, string> = {
    accept: isStreamingOperation(operation) ? 'text/event-stream, application/json' : 'application/json',
    ...(version === '1.0' && { 'a2a-version': '1.0' }),
  };
  const withTenant = tenant === undefined ? params : { tenant, ...params };
  switch (transport) {
    case 'JSONRPC': {
      const method = rpcMethodName(dialect, operation);
      const body = { jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params: withTenant }) };
      return { method: 'POST', url, headers: { ...headers, 'content-type': 'application/json' }, body };
    }
    case 'HTTP+JSON': {
      const route = dialect.routes.find((each) => each.operation === operation);
      const { path, rest } = expandRoutePath(route?.path ?? '', params);
      const { origin, pathname } = new URL(url);
      const tenantPath = tenant === undefined ? '' : `/${encodeURIComponent(tenant)}`;
      const full = origin + joinRoutePath(stripTrailing(pathname, '/') + tenantPath, path);
      if (route?.verb !== 'POST')
        return { method: route?.verb ?? 'GET', url: full + formatRestQuery(rest), headers, body: undefined };
      const type = { 'content-type': dialect.restMediaType };
      return { method: 'POST', url: full, headers: { ...headers, ...type }, body: rest };
    }
    case 'GRPC': {
      const service = grpcServiceOf(version);
      const method = service?.methods.find((each) => each.operation === operation);
      const { accept: _accept, ...rest } = headers;
      return {
        method: 'POST',
        url: `${new URL(url).origin}${service?.path ?? '/'}${method?.name ?? ''}`,
        headers: { ...rest, 'content-type': 'application/grpc', te: 'trailers' },
        body: withTenant ?? {},
      };
    }
  }
}

/**
 * Reads the parameters of an HTTP request that is meant to call an operation.
 *
 * @param request - its body is parsed JSON.
 * @throws {@link A2AError} with the first invalid field
 */
export function readOperationRequest(
  target: OperationVariant,
  request: Pick<OperationRequest, 'method' | 'url' | 'body'>,
): RequestOf[Operation] {
  const dialect = dialectOfVariant(target);
  if (!dialect) throw new A2AError('UNSUPPORTED_OPERATION');
  const params = paramsOf(target, dialect, request);
  return dialect.requests[target.operation].read(params, strictMode);
}

const routeTables = new WeakMap<Dialect, RouteTable>();

/** Returns the parameters of a request: JSON-RPC `params`, or body, path and query of REST. */
function paramsOf(
  { transport }: OperationVariant,
  dialect: Dialect,
  { method, url, body }: Pick<OperationRequest, 'method' | 'url' | 'body'>,
): unknown {
  if (transport === 'JSONRPC') return asJsonObject(body)?.params;
  if (transport === 'GRPC') return body ?? {};
  let table = routeTables.get(dialect);
  if (!table) routeTables.set(dialect, (table = new RouteTable(dialect)));
  const { pathname, search } = new URL(url);
  // The URL of the interface may have a path of its own.
  const segments = pathname.split('/').slice(1);
  for (let base = 0; base < segments.length; base++) {
    const path = `/${segments.slice(base).join('/')}`;
    const withVersion = dialect.version === '1.0' || path.startsWith('/v1/') ? path : `/v1${path}`;
    const match = table.find(method, withVersion);
    if (match && 'route' in match) return mergeRestParams(search.slice(1), match.params, body);
  }
  return mergeRestParams(search.slice(1), {}, body);
}

/** As on the wire: without members that are undefined. */
function withoutUndefined(params: unknown): JsonObject | undefined {
  return params === undefined ? undefined : (JSON.parse(JSON.stringify(params)) as JsonObject);
}
