import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { createDriver } from '../../discovery/card-variants.ts';
import { type ServiceSchema, service0_3, service1_0 } from '../../drivers/grpc/service-schemas.ts';
import { asText, objectOf } from '../../drivers/normalized-views.ts';
import type { DriverOperation } from '../../drivers/protocol-driver.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { decodeProtobuf } from '../../wire/grpc/decode-message.ts';
import { GrpcMessageReader } from '../../wire/grpc/grpc-message-reader.ts';
import type { ReceivedCall, SentMessage } from './received-request.ts';

const operations: readonly DriverOperation[] = [
  'send',
  'stream',
  'get',
  'list',
  'cancel',
  'subscribe',
  'createPush',
  'getPush',
  'listPush',
  'deletePush',
  'extendedCard',
];

/** Operations by method name, for each version. The drivers know the names. */
const rpcMethods: ReadonlyMap<string, { version: CheckedVersion; operation: DriverOperation }[]> = (() => {
  const methods = new Map<string, { version: CheckedVersion; operation: DriverOperation }[]>();
  for (const version of ['1.0', '0.3', '0.1'] as const) {
    const driver = createDriver(version, 'JSONRPC', 'http://agent.invalid');
    for (const operation of operations) {
      const body = driver.encode(operation, {})?.body;
      const method = typeof body === 'string' ? asText(objectOf(JSON.parse(body)).method) : undefined;
      if (method !== undefined) methods.set(method, [...(methods.get(method) ?? []), { version, operation }]);
    }
  }
  return methods;
})();

/** Decodes a request of JSON-RPC. `expected` decides where versions share a method. */
export function decodeRpcCall(body: string, expected: CheckedVersion): ReceivedCall | undefined {
  const request = objectOf(parseJsonOrUndefined(body));
  const known = rpcMethods.get(asText(request.method) ?? '') ?? [];
  const match = known.find(({ version }) => version === expected) ?? known[0];
  if (!match) return undefined;
  const params = objectOf(request.params);
  return {
    ...match,
    transport: 'JSONRPC',
    rpcId: request.id,
    params,
    message: decodeMessage(match.version, params),
    taskId: asText(params.taskId) ?? asText(params.id),
    tenant: asText(params.tenant),
  };
}

const restRoutes: readonly (readonly [verbs: readonly string[], path: RegExp, operation: DriverOperation])[] =
  [
    [['POST'], /^\/message:send$/, 'send'],
    [['POST'], /^\/message:stream$/, 'stream'],
    [['POST'], /^\/tasks\/([^/]+):cancel$/, 'cancel'],
    [['POST', 'GET'], /^\/tasks\/([^/]+):subscribe$/, 'subscribe'],
    [['POST'], /^\/tasks\/([^/]+)\/pushNotificationConfigs$/, 'createPush'],
    [['GET'], /^\/tasks\/([^/]+)\/pushNotificationConfigs$/, 'listPush'],
    [['GET'], /^\/tasks\/([^/]+)\/pushNotificationConfigs\/[^/]+$/, 'getPush'],
    [['DELETE'], /^\/tasks\/([^/]+)\/pushNotificationConfigs\/[^/]+$/, 'deletePush'],
    [['GET'], /^\/tasks\/([^/]+)$/, 'get'],
    [['GET'], /^\/tasks$/, 'list'],
    [['GET'], /^\/(?:extendedAgentCard|card)$/, 'extendedCard'],
  ];

/** Decodes a request of REST. `path` is relative to the URL of the interface. */
export function decodeRestCall(
  verb: string,
  path: string,
  query: string,
  body: string,
): ReceivedCall | undefined {
  const isOld = path.startsWith('/v1/');
  for (const tenantPattern of [/^()(\/.*)$/, /^\/([^/]+)(\/.*)$/]) {
    const [, tenant = '', rest = ''] = tenantPattern.exec(isOld ? path.slice(3) : path) ?? [];
    for (const [verbs, pattern, operation] of restRoutes) {
      const [whole, id] = pattern.exec(rest) ?? [];
      if (whole === undefined || !verbs.includes(verb)) continue;
      const fromBody = parseJsonOrUndefined(body);
      const params = isJsonObject(fromBody) ? fromBody : Object.fromEntries(new URLSearchParams(query));
      const version = isOld ? '0.3' : '1.0';
      return {
        version,
        transport: 'HTTP+JSON',
        operation,
        rpcId: undefined,
        params,
        message: decodeMessage(version, params),
        taskId: id === undefined ? undefined : decodePathSegment(id),
        tenant: tenant === '' ? asText(params.tenant) : decodePathSegment(tenant),
      };
    }
  }
  return undefined;
}

/** Decodes a call of gRPC: its path and its only message with prefix. */
export function decodeGrpcCall(
  path: string,
  body: Buffer,
): { call: ReceivedCall; service: ServiceSchema; problems: string[] } | undefined {
  for (const [version, service] of [
    ['1.0', service1_0],
    ['0.3', service0_3],
  ] as const)
    for (const operation of operations) {
      const method = service.methods[operation];
      if (!method || path !== `${service.path}${method.name}`) continue;
      const reader = new GrpcMessageReader();
      const messages = reader.push(body);
      const [first] = messages;
      const { json, problems } = decodeProtobuf(
        service.schema,
        method.request,
        first?.bytes ?? new Uint8Array(),
      );
      const found = problems.map(({ message }) => message);
      if (messages.length !== 1 || reader.incompleteBytes > 0)
        found.push('The call has not exactly one message');
      const name = asText(json.name) ?? asText(json.parent) ?? '';
      const call: ReceivedCall = {
        version,
        transport: 'GRPC',
        operation,
        rpcId: undefined,
        params: json,
        message: decodeMessage(version, json),
        taskId: asText(json.taskId) ?? asText(json.id) ?? /^tasks\/([^/]+)/.exec(name)?.[1],
        tenant: asText(json.tenant) === '' ? undefined : asText(json.tenant),
      };
      return { call, service, problems: found };
    }
  return undefined;
}

function decodeMessage(version: CheckedVersion, params: JsonObject): SentMessage | undefined {
  const { message: raw } = params;
  if (!isJsonObject(raw)) return undefined;
  const id = (value: unknown): string | undefined => (value === '' ? undefined : asText(value));
  if (version === '0.1')
    return { messageId: undefined, taskId: id(params.id), contextId: id(params.sessionId), raw };
  return { messageId: id(raw.messageId), taskId: id(raw.taskId), contextId: id(raw.contextId), raw };
}

function decodePathSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
