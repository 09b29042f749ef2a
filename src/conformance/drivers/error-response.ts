/** The errors of the protocol, by name. */
export const protocolErrors = {
  ParseError: { code: -32700, http: [400], reason: undefined },
  InvalidRequest: { code: -32600, http: [400], reason: undefined },
  MethodNotFound: { code: -32601, http: [404, 405, 501], reason: undefined },
  InvalidParams: { code: -32602, http: [400, 422], reason: undefined },
  TaskNotFound: { code: -32001, http: [404], reason: 'TASK_NOT_FOUND' },
  // The second number is that of 1.0.0.
  TaskNotCancelable: { code: -32002, http: [400, 409], reason: 'TASK_NOT_CANCELABLE' },
  PushNotificationNotSupported: { code: -32003, http: [400, 501], reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED' },
  UnsupportedOperation: { code: -32004, http: [400, 501], reason: 'UNSUPPORTED_OPERATION' },
  ContentTypeNotSupported: { code: -32005, http: [400, 415], reason: 'CONTENT_TYPE_NOT_SUPPORTED' },
  InvalidAgentResponse: { code: -32006, http: [500, 502], reason: 'INVALID_AGENT_RESPONSE' },
  ExtendedAgentCardNotConfigured: {
    code: -32007,
    http: [400, 404],
    reason: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  },
  ExtensionSupportRequired: { code: -32008, http: [400], reason: 'EXTENSION_SUPPORT_REQUIRED' },
  VersionNotSupported: { code: -32009, http: [400, 501], reason: 'VERSION_NOT_SUPPORTED' },
} as const;

/** The name of an error. */
export type ProtocolErrorName = keyof typeof protocolErrors;

/** An error that an agent answered with. */
export interface ErrorResponse {
  /** The code of JSON-RPC; undefined on REST where the body has none. */
  readonly code: number | undefined;
  readonly httpStatus: number;
  readonly message: string;
  /** `ErrorInfo.reason`, if there is one. */
  readonly reason: string | undefined;
  /** The `data` or the `details`. */
  readonly details: unknown;
  readonly raw: unknown;
}

/** Reads the `reason` of the first `ErrorInfo` in a list of details. */
export function errorInfoReason(details: unknown): string | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const each of details as { reason?: unknown }[])
    if (typeof each === 'object' && each !== null && typeof each.reason === 'string') return each.reason;
  return undefined;
}

/** Says how an error is not the one that was expected; undefined when it is. */
export function errorMismatch(
  error: ErrorResponse,
  name: ProtocolErrorName,
  transport: 'JSONRPC' | 'HTTP+JSON',
): string | undefined {
  const { code, http, reason } = protocolErrors[name];
  if (transport === 'JSONRPC')
    return error.code === code ? undefined : `code ${code} (${name}), not ${error.code}`;
  if (!(http as readonly number[]).includes(error.httpStatus))
    return `HTTP ${http.join(' or ')} (${name}), not ${error.httpStatus}`;
  if (reason !== undefined && error.reason !== undefined && error.reason !== reason)
    return `the reason ${reason}, not ${error.reason}`;
  return undefined;
}
