import { dialectForMethod, dialectForVersion, parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { findGrpcMethod } from '../../dialects/protobuf/grpc-service.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { mergeRestParams } from '../../dialects/http/rest-params.ts';
import { RouteTable } from '../../dialects/http/route-table.ts';
import type { TrafficTransport } from '../traffic-record.ts';

/** Operation of a request, identified before its parameters are decoded. */
export interface IdentifiedOperation {
  readonly dialect: Dialect;
  readonly version: ProtocolVersion;
  readonly transport: TrafficTransport;
  readonly operation: Operation;
  readonly params: unknown;
  /** Id of a JSON-RPC request. */
  readonly id?: string | number | null;
  /** Dialect of another version with the same method, if the request does not name its version. */
  readonly alternative?: Dialect;
}

/** HTTP request line and `A2A-Version` header. */
export interface HttpRequestInfo {
  readonly method: string;
  readonly url: string;
  readonly version: string | undefined;
}

const cardPath = /\/(?:\.well-known\/agent(?:-card)?\.json|agent\/authenticatedExtendedCard)$/;

/** Returns true for paths of agent cards. */
export function isCardPath(path: string): boolean {
  return cardPath.test(path);
}

/** Parses a protocol version; returns undefined if it is unknown. */
export function parseVersionText(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return undefined;
  }
}

/** Identifies the operation of a JSON-RPC request; returns undefined if it is unknown. */
export function identifyRpcOperation(
  body: unknown,
  version: ProtocolVersion | undefined,
  path?: string,
): IdentifiedOperation | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { method, params, id = null } = body as Partial<IdentifiedOperation> & { method?: unknown };
  if (typeof method !== 'string') return undefined;
  try {
    const match = dialectForMethod(method, version, { lenient: true, path: path ?? '/' });
    const { dialect, operation, ambiguous } = match;
    return {
      dialect,
      version: usedVersion(dialect, version),
      transport: 'JSONRPC',
      operation,
      params,
      id,
      ...(ambiguous && { alternative: v0_1 }),
    };
  } catch {
    return undefined;
  }
}

/** Finds the method of a gRPC call below any base path. */
export function identifyGrpcMethod(path: string): ReturnType<typeof findGrpcMethod> {
  // The last two segments: service and method.
  const start = path.lastIndexOf('/', path.lastIndexOf('/') - 1);
  return findGrpcMethod(path.slice(Math.max(0, start)));
}

/** Identifies the method of a gRPC call below any base path; its message is observed as ProtoJSON. */
export function identifyGrpcOperation(path: string, body: unknown): IdentifiedOperation | undefined {
  const found = identifyGrpcMethod(path);
  if (!found) return undefined;
  const { dialect } = found.service;
  return {
    dialect,
    version: dialect.version,
    transport: 'GRPC',
    operation: found.method.operation,
    params: body ?? {},
  };
}

/** 0.2 uses the dialect of 0.3. */
function usedVersion(dialect: Dialect, version: ProtocolVersion | undefined): ProtocolVersion {
  return version !== undefined && dialectForVersion(version) === dialect ? version : dialect.version;
}

const routeTables = new Map([v1_0, v0_3_rest].map((dialect) => [dialect, new RouteTable(dialect)]));

/** Maximum number of path segments in front of a route. */
const maxBaseSegments = 6;

/** Identifies the operation of a REST request below any base path; returns undefined if it is unknown. */
export function identifyRestOperation(
  { method, url, version: versionText }: HttpRequestInfo,
  body: unknown,
): IdentifiedOperation | undefined {
  const { pathname, search } = new URL(url);
  const version = parseVersionText(versionText);
  const segments = pathname.split('/').slice(1);
  for (const dialect of candidateDialects(version, segments)) {
    for (let base = 0; base < Math.min(segments.length, maxBaseSegments); base++) {
      const path = `/${segments.slice(base).join('/')}`;
      const match = findRoute(dialect, method, path);
      if (!match) continue;
      return {
        dialect,
        version: usedVersion(dialect, version),
        transport: 'HTTP+JSON',
        operation: match.route.operation,
        params: mergeRestParams(search.slice(1), match.params, body),
      };
    }
  }
  return undefined;
}

function candidateDialects(version: ProtocolVersion | undefined, segments: readonly string[]): Dialect[] {
  if (version === '1.0') return [v1_0];
  if (version !== undefined) return [v0_3_rest];
  return segments.includes('v1') ? [v0_3_rest, v1_0] : [v1_0];
}

function findRoute(dialect: Dialect, method: string, path: string) {
  try {
    const fullPath = dialect === v0_3_rest && !path.startsWith('/v1/') ? `/v1${path}` : path;
    const match = routeTables.get(dialect)?.find(method, fullPath);
    return match && 'route' in match ? match : undefined;
  } catch {
    return undefined;
  }
}
