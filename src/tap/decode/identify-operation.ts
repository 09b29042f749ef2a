import { dialectForMethod, dialectForVersion, parseVersionHeader } from '../../dialects/negotiation.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { v0_3_rest } from '../../dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { mergeRestParams } from '../../server/http/rest-params.ts';
import { RouteTable } from '../../server/http/route-table.ts';
import type { TrafficTransport } from '../traffic-record.ts';

/** What a request asks for, as far as that can be told before its parameters are read. */
export interface IdentifiedOperation {
  readonly dialect: Dialect;
  readonly version: ProtocolVersion;
  readonly binding: TrafficTransport;
  readonly operation: Operation;
  readonly params: unknown;
  /** The id of a request of JSON-RPC. */
  readonly id?: string | number | null;
}

/** What is known of a request of HTTP. */
export interface HttpRequestInfo {
  readonly method: string;
  readonly url: string;
  readonly version: string | undefined;
}

const cardPath = /\/(?:\.well-known\/agent(?:-card)?\.json|agent\/authenticatedExtendedCard)$/;

/** True for an address where cards are. */
export function isCardPath(path: string): boolean {
  return cardPath.test(path);
}

/** Reads the version that somebody names; a strange one counts as none. */
export function parseVersionText(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return undefined;
  }
}

/** Says what a request of JSON-RPC asks for; undefined when it is none that anybody knows. */
export function identifyRpcOperation(
  body: unknown,
  version: ProtocolVersion | undefined,
  path?: string,
): IdentifiedOperation | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { method, params, id } = body as {
    method?: unknown;
    params?: unknown;
    id?: IdentifiedOperation['id'];
  };
  if (typeof method !== 'string') return undefined;
  try {
    const { dialect, operation } = dialectForMethod(method, version, { lenient: true, path: path ?? '/' });
    return {
      dialect,
      version: spokenIn(dialect, version),
      binding: 'JSONRPC',
      operation,
      params,
      id: id ?? null,
    };
  } catch {
    return undefined;
  }
}

/** 0.2 is read as 0.3. */
function spokenIn(dialect: Dialect, version: ProtocolVersion | undefined): ProtocolVersion {
  return version !== undefined && dialectForVersion(version) === dialect ? version : dialect.version;
}

const tables = new Map([v1_0, v0_3_rest].map((dialect) => [dialect, new RouteTable(dialect)]));

/** How many levels may be before the path of a route. */
const maxBase = 6;

/** Says what a request of REST asks for, wherever its agent is; undefined when it is none that anybody knows. */
export function identifyRestOperation(
  { method, url, version: named }: HttpRequestInfo,
  body: unknown,
): IdentifiedOperation | undefined {
  const { pathname, search } = new URL(url);
  const version = parseVersionText(named);
  const segments = pathname.split('/').slice(1);
  for (const dialect of dialectsFor(version, segments)) {
    for (let base = 0; base < Math.min(segments.length, maxBase); base++) {
      const path = `/${segments.slice(base).join('/')}`;
      const found = find(dialect, method, path);
      if (!found) continue;
      return {
        dialect,
        version: spokenIn(dialect, version),
        binding: 'HTTP+JSON',
        operation: found.route.operation,
        params: mergeRestParams(search.slice(1), found.params, body),
      };
    }
  }
  return undefined;
}

function dialectsFor(version: ProtocolVersion | undefined, segments: readonly string[]): Dialect[] {
  if (version === '1.0') return [v1_0];
  if (version !== undefined) return [v0_3_rest];
  return segments.includes('v1') ? [v0_3_rest, v1_0] : [v1_0];
}

function find(dialect: Dialect, method: string, path: string) {
  try {
    const whole = dialect === v0_3_rest && !path.startsWith('/v1/') ? `/v1${path}` : path;
    const found = tables.get(dialect)?.find(method, whole);
    return found && 'route' in found ? found : undefined;
  } catch {
    return undefined;
  }
}
