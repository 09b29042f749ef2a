/** Minimal clients for every protocol variant and every position of the tenant. */
import type { Operation, Principal } from '../../../src/protocol/agent.ts';
import { type Dialect, rpcMethodName } from '../../../src/dialects/dialect.ts';
import { v0_1 } from '../../../src/dialects/v0_1/index.ts';
import { v0_3 } from '../../../src/dialects/v0_3/index.ts';
import { v0_3_rest } from '../../../src/dialects/v0_3_rest/index.ts';
import { v1_0 } from '../../../src/dialects/v1_0/index.ts';
import { bearerAuth } from '../../../src/server/auth/schemes/bearer.ts';
import type { Authenticator } from '../../../src/server/auth/authenticator.ts';
import { httpOpen } from '../http/http-calls.ts';

/** Principal and tenant of a request. Without a principal the request is unauthenticated. */
export interface TestIdentity {
  principal?: Principal;
  tenant?: string;
}

/** The parts of a response that tests compare. */
export interface TestResponse {
  status: number;
  type: string | null;
  challenges: string | null;
  text: string;
}

type Params = { [name: string]: unknown };

/** Accepts the principal that a token contains, without verification. */
export function trustingAuthenticator(): Authenticator {
  return bearerAuth({
    tokens: (token) => JSON.parse(Buffer.from(token, 'base64url').toString()) as Principal,
  });
}

function credentialsOf(principal: Principal | undefined): Record<string, string> {
  if (!principal) return {};
  return { authorization: `Bearer ${Buffer.from(JSON.stringify(principal)).toString('base64url')}` };
}

/** Sends requests over one protocol variant. */
export class TestClient {
  readonly name: string;
  readonly dialect: Dialect;
  readonly isRest: boolean;
  readonly tenantIn: 'path' | 'field' | undefined;

  constructor(name: string, dialect: Dialect, isRest: boolean, tenantIn?: 'path' | 'field') {
    this.name = name;
    this.dialect = dialect;
    this.isRest = isRest;
    this.tenantIn = tenantIn;
  }

  toString(): string {
    return this.name;
  }

  /** Returns true if this version and transport have an operation. */
  has(operation: Operation): boolean {
    return this.isRest
      ? this.dialect.routes.some((route) => route.operation === operation)
      : [...this.dialect.methods.values()].includes(operation);
  }

  /** Sends a request and returns the response without reading its body. */
  open(
    url: string,
    identity: TestIdentity,
    operation: Operation,
    request: unknown,
    more: Record<string, string> = {},
  ): Promise<Response> {
    const params = { ...(this.dialect.requests[operation].write(request as never) as Params | undefined) };
    const headers = {
      ...(this.dialect.version === '1.0' && { 'a2a-version': '1.0' }),
      ...credentialsOf(identity.principal),
      ...more,
    };
    if (identity.tenant !== undefined && this.tenantIn === 'field') params.tenant = identity.tenant;
    if (!this.isRest) {
      const body = { jsonrpc: '2.0', id: 7, method: rpcMethodName(this.dialect, operation), params };
      return httpOpen(url, body, headers);
    }
    const base =
      identity.tenant !== undefined && this.tenantIn === 'path'
        ? `${url}/${encodeURIComponent(identity.tenant)}`
        : url;
    return this.#openRest(base, operation, params, headers);
  }

  #openRest(
    base: string,
    operation: Operation,
    params: Params,
    headers: Record<string, string>,
  ): Promise<Response> {
    const route = this.dialect.routes.find((each) => each.operation === operation);
    if (!route) throw new Error(`${this.name} has no ${operation}`);
    const rest = { ...params };
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
      const value = String(rest[name]);
      delete rest[name];
      return encodeURIComponent(value);
    });
    if (route.verb === 'POST') return httpOpen(base + path, rest, headers);
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(rest) as [string, string | number | undefined][])
      if (value !== undefined) query.set(name, String(value));
    return httpOpen(`${base}${path}?${query.toString()}`, undefined, headers, route.verb);
  }

  /** Sends a request and reads the complete response. */
  async request(
    url: string,
    identity: TestIdentity,
    operation: Operation,
    request: unknown,
    more: Record<string, string> = {},
  ): Promise<TestResponse> {
    const response = await this.open(url, identity, operation, request, more);
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      challenges: response.headers.get('www-authenticate'),
      text: await response.text(),
    };
  }

  /** Sends a request and returns the result as model object. Throws on an error response. */
  async call(
    url: string,
    identity: TestIdentity,
    operation: Operation,
    request: unknown,
    headers: Record<string, string> = {},
  ): Promise<any> {
    const response = await this.request(url, identity, operation, request, headers);
    const body = response.text === '' ? undefined : JSON.parse(response.text);
    if (response.status >= 300 || body?.error !== undefined)
      throw new Error(`${this.name}: ${operation} returned ${response.status} ${response.text}`);
    const results = this.dialect.results as { [name: string]: any };
    return results[operation].read(this.isRest ? body : body.result, { lenient: true });
  }
}

export const testClients: readonly TestClient[] = [
  new TestClient('1.0 over JSON-RPC', v1_0, false),
  new TestClient('1.0 over JSON-RPC with a tenant', v1_0, false, 'field'),
  new TestClient('1.0 over REST', v1_0, true),
  new TestClient('1.0 over REST with a tenant in the path', v1_0, true, 'path'),
  new TestClient('1.0 over REST with a tenant among the fields', v1_0, true, 'field'),
  new TestClient('0.3 over JSON-RPC', v0_3, false),
  new TestClient('0.3 over REST', v0_3_rest, true),
  new TestClient('0.1 over JSON-RPC', v0_1, false),
];
