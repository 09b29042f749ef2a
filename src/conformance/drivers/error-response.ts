import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { GrpcStatusName } from '../wire/grpc/grpc-status.ts';

/** Errors of the protocol by name. */
export const protocolErrors = {
  ParseError: { code: -32700, http: [400], grpc: ['INVALID_ARGUMENT', 'INTERNAL'], reason: undefined },
  InvalidRequest: { code: -32600, http: [400], grpc: ['INVALID_ARGUMENT'], reason: undefined },
  MethodNotFound: { code: -32601, http: [404, 405, 501], grpc: ['UNIMPLEMENTED'], reason: undefined },
  InvalidParams: { code: -32602, http: [400, 422], grpc: ['INVALID_ARGUMENT'], reason: undefined },
  TaskNotFound: { code: -32001, http: [404], grpc: ['NOT_FOUND'], reason: 'TASK_NOT_FOUND' },
  // Where two statuses are listed, the second is that of 1.0.0.
  TaskNotCancelable: {
    code: -32002,
    http: [400, 409],
    grpc: ['FAILED_PRECONDITION'],
    reason: 'TASK_NOT_CANCELABLE',
  },
  PushNotificationNotSupported: {
    code: -32003,
    http: [400, 501],
    grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'],
    reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
  UnsupportedOperation: {
    code: -32004,
    http: [400, 501],
    grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'],
    reason: 'UNSUPPORTED_OPERATION',
  },
  ContentTypeNotSupported: {
    code: -32005,
    http: [400, 415],
    grpc: ['INVALID_ARGUMENT'],
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
  },
  InvalidAgentResponse: {
    code: -32006,
    http: [500, 502],
    grpc: ['INTERNAL'],
    reason: 'INVALID_AGENT_RESPONSE',
  },
  ExtendedAgentCardNotConfigured: {
    code: -32007,
    http: [400, 404],
    grpc: ['FAILED_PRECONDITION'],
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  },
  ExtensionSupportRequired: {
    code: -32008,
    http: [400],
    grpc: ['FAILED_PRECONDITION'],
    reason: 'EXTENSION_SUPPORT_REQUIRED',
  },
  VersionNotSupported: {
    code: -32009,
    http: [400, 501],
    grpc: ['FAILED_PRECONDITION', 'UNIMPLEMENTED'],
    reason: 'VERSION_NOT_SUPPORTED',
  },
} as const;

export type ProtocolErrorName = keyof typeof protocolErrors;

/** An error returned by an agent. */
export interface ErrorResponse {
  /** JSON-RPC error code; undefined on REST if the body has none. */
  readonly code: number | undefined;
  readonly httpStatus: number;
  /** Undefined unless the request was a call of gRPC. */
  readonly grpcStatus?: GrpcStatusName;
  readonly message: string;
  /** `reason` of the first `google.rpc.ErrorInfo`. */
  readonly reason: string | undefined;
  /** `error.data` on JSON-RPC, `error.details` on REST. */
  readonly details: unknown;
  readonly raw: unknown;
}

const statuses0_3: ReadonlySet<string> = new Set(['FAILED_PRECONDITION', 'UNIMPLEMENTED']);
/** Errors whose status the implementations of 0.3 agree about. */
const exactNames: ReadonlySet<string> = new Set(['TaskNotFound', 'InvalidParams', 'MethodNotFound']);

/** Returns the `reason` of the first `google.rpc.ErrorInfo` in a list of details. */
export function errorInfoReason(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const each of details as { reason?: unknown }[])
    if (typeof each === 'object' && each !== null && typeof each.reason === 'string') return each.reason;
  return undefined;
}

/** Returns how an error differs from the named error, or undefined if it matches. */
export function errorMismatch(
  error: ErrorResponse,
  name: ProtocolErrorName,
  { transport, version }: { readonly transport: CheckedTransport; readonly version: CheckedVersion },
): string | undefined {
  const { code, http, grpc, reason } = protocolErrors[name];
  if (transport === 'JSONRPC')
    return error.code === code ? undefined : `code ${code} (${name}), not ${error.code}`;
  if (transport === 'GRPC') {
    const { grpcStatus = 'OK' } = error;
    // No text defines the statuses of 0.3, and its implementations disagree.
    const isOlder = version !== '1.0' && statuses0_3.has(grpcStatus) && !exactNames.has(name);
    if (!isOlder && !(grpc as readonly string[]).includes(grpcStatus))
      return `the status ${grpc.join(' or ')} (${name}), not ${grpcStatus}`;
  } else if (!(http as readonly number[]).includes(error.httpStatus))
    return `HTTP ${http.join(' or ')} (${name}), not ${error.httpStatus}`;
  if (reason !== undefined && error.reason !== undefined && error.reason !== reason)
    return `reason ${reason}, not ${error.reason}`;
  return undefined;
}
