/** Every operation of every version over every transport: the gateway decides what `gateway explain` says. */
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { definesOperation, writeOperationRequest } from '../../../src/dialects/http/operation-request.ts';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import { grpcServiceOf } from '../../../src/dialects/protobuf/grpc-service.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import {
  explainCall,
  type PolicyExplanation,
  scopesInFile,
} from '../../../src/gateway/policy/explain-policy.ts';
import {
  operationsByName,
  type PolicyOperationName,
  singleOperationNames,
} from '../../../src/gateway/policy/policy-operations.ts';
import { runGateway, type RunningGateway } from '../../../src/gateway/run-gateway.ts';
import type { Operation } from '../../../src/protocol/agent.ts';
import type { ProtocolVariant } from '../../../src/protocol/card.ts';
import type { Part } from '../../../src/protocol/part.ts';
import type { RequestOf } from '../../../src/protocol/requests.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { createWaitingAgent } from '../../support/gateway/policy-gateway.ts';
import { call, errorOf, frame } from '../../support/grpc/raw-calls.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const principals = [
  'alice',
  'mallory',
  'reader',
  'tenant-user',
  'stranger',
  'only-1.0',
  'only-0.3',
  'only-0.1',
  'only-rpc',
  'only-rest',
  'only-grpc',
  'small',
  'few-parts',
  'no-files',
  'slow',
];

const policyFile = `listen: 0
auth:
  bearer:
${principals.map((id) => `    - { token: ${id}-token, principal: ${id}${id === 'reader' ? ', scopes: [tasks.read]' : ''} }`).join('\n')}
agents:
  weather: { module: weather }
  ledger: { module: ledger }
policy:
  rules:
    - deny: { principals: [mallory] }
    - allow: { scopes: [tasks.read] }
      operations: [get, list, subscribe, get_push, list_push]
    - allow: { principals: [tenant-user], tenants: [acme] }
    - allow: { principals: [alice, "only-*", small, few-parts, no-files, slow] }
      agents: [weather]
  limits:
    newest: { callers: { principals: [only-1.0] }, versions: ["1.0"] }
    middle: { callers: { principals: [only-0.3] }, versions: ["0.3"] }
    oldest: { callers: { principals: [only-0.1] }, versions: ["0.1"] }
    rpc: { callers: { principals: [only-rpc] }, transports: [JSONRPC] }
    rest: { callers: { principals: [only-rest] }, transports: [HTTP+JSON] }
    grpc: { callers: { principals: [only-grpc] }, transports: [GRPC] }
    bytes: { callers: { principals: [small] }, request_bytes: 1000 }
    parts: { callers: { principals: [few-parts] }, parts: 2 }
    files: { callers: { principals: [no-files] }, file_bytes: 10 }
    rate: { callers: { principals: [slow] }, requests_per_second: 1 }
`;

/** A request that is sent in all versions and transports. */
interface Scenario {
  /** Undefined: a request without credentials. */
  readonly as: string | undefined;
  readonly agent?: string;
  readonly tenant?: string;
  readonly parts?: readonly Part[];
  /** Size of the largest file in bytes. */
  readonly fileBytes?: number;
}

const small: readonly Part[] = [{ text: 'hi' }];
const file = (bytes: number): Part => ({
  raw: Buffer.alloc(bytes).toString('base64'),
  filename: 'a.bin',
  mediaType: 'application/octet-stream',
});

const scenarios: readonly Scenario[] = [
  ...principals.map((as) => ({ as })),
  { as: undefined },
  { as: 'alice', agent: 'ledger' },
  { as: 'reader', agent: 'ledger' },
  { as: 'tenant-user', tenant: 'acme' },
  { as: 'tenant-user', tenant: 'other' },
  { as: 'small', parts: [{ text: 'x'.repeat(3_000) }] },
  { as: 'few-parts', parts: [...small, ...small] },
  { as: 'few-parts', parts: [...small, ...small, ...small] },
  { as: 'no-files', parts: [file(10)], fileBytes: 10 },
  { as: 'no-files', parts: [file(11)], fileBytes: 11 },
];

const variants: readonly ProtocolVariant[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
  { version: '1.0', transport: 'GRPC' },
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '0.3', transport: 'GRPC' },
  { version: '0.2', transport: 'JSONRPC' },
  { version: '0.1', transport: 'JSONRPC' },
];

/** Returns the request of an operation. Its task does not exist: the policy decides before the agent. */
function requestOf(operation: Operation, parts: readonly Part[] = small): RequestOf[Operation] {
  switch (operation) {
    case 'send':
    case 'stream':
      return { message: { messageId: crypto.randomUUID(), role: 'user', parts: [...parts] } };
    case 'createPushConfig':
      return { taskId: 'none', id: 'p', url: 'https://push.example.com/' };
    case 'getPushConfig':
    case 'deletePushConfig':
      return { taskId: 'none', id: 'p' };
    case 'listPushConfigs':
      return { taskId: 'none' };
    case 'listTasks':
    case 'extendedCard':
      return {};
    default:
      return { id: 'none' };
  }
}

describe('policy of a gateway in all versions and transports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'policy-matrix-'));
  const path = join(folder, 'gateway.yaml');
  const settings = readGatewayConfig(policyFile, path, {});
  const clock = new ManualClock();
  /** Denials in the log, as kind and place. */
  const denials: string[] = [];
  let running: RunningGateway;
  let session: ClientHttp2Session;

  beforeAll(async () => {
    writeFileSync(path, policyFile);
    running = await runGateway(settings, {
      clock,
      loadModule: async (module) => createWaitingAgent(module.split('/').at(-1) ?? ''),
      log: ({ message }) => {
        const denial = /: the policy denied (\S+) \((\S+), (.*)\)$/.exec(message);
        if (denial) denials.push(denial.slice(1).join(' '));
      },
    });
    session = connectHttp2(running.url ?? '');
    await once(session, 'connect');
  });

  afterAll(async () => {
    session.close();
    await running.stop(0);
    await rm(folder, { recursive: true });
  });

  /** Sends a request. @returns its size, and the HTTP status or name of the gRPC status */
  async function send(
    variant: ProtocolVariant,
    name: PolicyOperationName,
    { as, agent = 'weather', tenant, parts }: Scenario,
  ): Promise<{ bytes: number; status: number | string }> {
    const credentials: Record<string, string> =
      as === undefined ? {} : { authorization: `Bearer ${as}-token` };
    const url = `${running.url}/agents/${agent}`;
    const [operation] = operationsByName[name];
    if (operation === 'card') {
      const card = variant.version === '1.0' || variant.version === '0.3' ? 'agent-card.json' : 'agent.json';
      return { bytes: 0, ...(await httpGet(`${url}/.well-known/${card}`, credentials)) };
    }
    const isGrpc = variant.transport === 'GRPC';
    // Callers of gRPC name the agent of a gateway in the tenant, or in a header before 1.0.
    const names = isGrpc && variant.version === '1.0';
    const request = writeOperationRequest({ ...variant, operation }, requestOf(operation, parts), {
      url,
      // The paths of REST before 1.0 have no place for a tenant.
      tenant: names
        ? [agent, tenant].filter((each) => each !== undefined).join('/')
        : variant.transport === 'HTTP+JSON' && variant.version !== '1.0'
          ? undefined
          : tenant,
    });
    const headers = { ...request.headers, ...credentials };
    if (isGrpc) {
      const method = grpcServiceOf(variant.version)?.methods.find((each) => each.operation === operation);
      const message = method ? encodeMessage(method.request, request.body as never) : new Uint8Array();
      const answer = await call(session, new URL(request.url).pathname, frame(message), {
        ...headers,
        'dragoman-agent': agent,
      });
      const error = errorOf(answer);
      return { bytes: message.length, status: error?.reason ?? 'OK' };
    }
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    const { status } = await httpPost(request.url, body, headers, request.method);
    return { bytes: body?.length ?? 0, status };
  }

  function explain(
    { version, transport }: ProtocolVariant,
    operation: PolicyOperationName,
    { as, agent = 'weather', tenant, parts = small, fileBytes = 0 }: Scenario,
    bytes: number,
  ): PolicyExplanation {
    const scopes = as === undefined ? undefined : scopesInFile(settings, as);
    const sendsMessage = operation === 'send' || operation === 'stream';
    return explainCall(settings, {
      agent,
      operation,
      caller: {
        principal: as === undefined ? undefined : { id: as, ...(scopes && { scopes }) },
        isMeshUser: false,
      },
      tenant,
      version,
      transport,
      bytes,
      parts: sendsMessage ? parts.length : 0,
      fileBytes: sendsMessage ? fileBytes : 0,
    });
  }

  /** HTTP statuses and gRPC errors of denials. */
  const statuses: { readonly [kind: string]: readonly (number | string)[] } = {
    authentication: [401, 'UNAUTHENTICATED'],
    access: [403, 401, 'PERMISSION_DENIED', 'UNAUTHENTICATED'],
    version: [403, 'PERMISSION_DENIED'],
    transport: [403, 'PERMISSION_DENIED'],
    size: [413, 'PAYLOAD_TOO_LARGE', 'RESOURCE_EXHAUSTED'],
    rate: [429, 'RESOURCE_EXHAUSTED'],
  };

  const hasOperation = (variant: ProtocolVariant, name: PolicyOperationName): boolean => {
    const [operation] = operationsByName[name];
    return operation === 'card' ? variant.transport !== 'GRPC' : definesOperation({ ...variant, operation });
  };

  it.each(variants)('decides as explained in $version over $transport', async (variant) => {
    const counted = { allowed: 0, denied: 0 };
    const different: string[] = [];
    for (const name of singleOperationNames.filter((each) => hasOperation(variant, each)))
      for (const scenario of scenarios) {
        clock.advance(2_000);
        denials.length = 0;
        const { bytes, status } = await send(variant, name, scenario);
        const { result, kind, place } = explain(variant, name, scenario, bytes);
        counted[result]++;
        const expected = result === 'denied' && kind !== 'authentication' ? [`${name} ${kind} ${place}`] : [];
        const isStatusRight =
          result === 'allowed'
            ? !Object.values(statuses).flat().includes(status)
            : statuses[kind]?.includes(status) === true;
        if (denials.join() !== expected.join() || !isStatusRight)
          different.push(
            `${name} ${JSON.stringify(scenario).slice(0, 80)}: explained ${result} ${expected.join()}, decided ${denials.join()} (${status})`,
          );
      }
    expect(different).toEqual([]);
    expect(Math.min(counted.allowed, counted.denied)).toBeGreaterThan(40);
  });

  it.each(variants)('counts the rates that are explained in $version over $transport', async (variant) => {
    for (const name of singleOperationNames.filter(
      (each) => each !== 'card' && hasOperation(variant, each),
    )) {
      const scenario = { as: 'slow' };
      clock.advance(2_000);
      denials.length = 0;
      const { bytes } = await send(variant, name, scenario);
      const { limits } = explain(variant, name, scenario, bytes);
      expect(
        limits.map((limit) => limit.name),
        name,
      ).toEqual(['rate']);
      expect(denials, name).toEqual([]);
      expect(statuses.rate).toContain((await send(variant, name, scenario)).status);
      expect(denials).toEqual([`${name} rate ${limits[0]?.place}`]);
    }
  });

  it('is explained by the command as by the library', async () => {
    for (const [index, scenario] of scenarios.filter(({ parts }) => parts === undefined).entries()) {
      const variant = variants[index % variants.length] as ProtocolVariant;
      const { as, agent = 'weather', tenant } = scenario;
      const flags = Object.entries({
        as,
        agent,
        tenant,
        'a2a-version': variant.version,
        transport: variant.transport,
      })
        .filter(([, value]) => value !== undefined)
        .flatMap(([name, value]) => [`--${name}`, String(value)]);
      const { stdout, code } = await runInProcess(['gateway', 'explain', path, ...flags, '-o', 'json']);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toEqual(
        // Undefined members are missing in JSON.
        JSON.parse(JSON.stringify(singleOperationNames.map((name) => explain(variant, name, scenario, 0)))),
      );
    }
  });
});
