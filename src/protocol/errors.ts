/** JSON-RPC code, HTTP status, gRPC status and default message of an error. */
interface ErrorRow {
  rpc: number;
  http: number;
  grpc: string;
  text: string;
}

/**
 * All errors of the specification, with the codes of 1.0.1, and the errors of transports. The only mapping between
 * reasons and codes.
 */
export const errorTable = {
  PARSE_ERROR: { rpc: -32700, http: 400, grpc: 'INVALID_ARGUMENT', text: 'Invalid JSON payload' },
  INVALID_REQUEST: { rpc: -32600, http: 400, grpc: 'INVALID_ARGUMENT', text: 'Invalid request' },
  METHOD_NOT_FOUND: { rpc: -32601, http: 404, grpc: 'UNIMPLEMENTED', text: 'Method not found' },
  INVALID_PARAMS: { rpc: -32602, http: 400, grpc: 'INVALID_ARGUMENT', text: 'Invalid parameters' },
  INTERNAL_ERROR: { rpc: -32603, http: 500, grpc: 'INTERNAL', text: 'Internal error' },
  TASK_NOT_FOUND: { rpc: -32001, http: 404, grpc: 'NOT_FOUND', text: 'Task not found' },
  TASK_NOT_CANCELABLE: {
    rpc: -32002,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'Task cannot be canceled',
  },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    rpc: -32003,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'Push notifications not supported',
  },
  UNSUPPORTED_OPERATION: {
    rpc: -32004,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'Operation not supported',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    rpc: -32005,
    http: 400,
    grpc: 'INVALID_ARGUMENT',
    text: 'Content type not supported',
  },
  INVALID_AGENT_RESPONSE: {
    rpc: -32006,
    http: 500,
    grpc: 'INTERNAL',
    text: 'The agent returned an invalid response',
  },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    rpc: -32007,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'No extended agent card configured',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    rpc: -32008,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'A required extension was not requested',
  },
  VERSION_NOT_SUPPORTED: {
    rpc: -32009,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'Protocol version not supported',
  },
  UNAUTHENTICATED: { rpc: -32600, http: 401, grpc: 'UNAUTHENTICATED', text: 'Authentication required' },
  PERMISSION_DENIED: { rpc: -32600, http: 403, grpc: 'PERMISSION_DENIED', text: 'Permission denied' },
  NOT_FOUND: { rpc: -32601, http: 404, grpc: 'NOT_FOUND', text: 'Not found' },
  METHOD_NOT_ALLOWED: {
    rpc: -32600,
    http: 405,
    grpc: 'UNIMPLEMENTED',
    text: 'HTTP method not allowed',
  },
  PAYLOAD_TOO_LARGE: { rpc: -32600, http: 413, grpc: 'RESOURCE_EXHAUSTED', text: 'Request too large' },
  RESOURCE_EXHAUSTED: { rpc: -32603, http: 429, grpc: 'RESOURCE_EXHAUSTED', text: 'Too many requests' },
  UNAVAILABLE: { rpc: -32603, http: 503, grpc: 'UNAVAILABLE', text: 'Agent unavailable' },
  TIMEOUT: { rpc: -32603, http: 504, grpc: 'DEADLINE_EXCEEDED', text: 'Timeout exceeded' },
  CANCELED: { rpc: -32603, http: 499, grpc: 'CANCELLED', text: 'Request canceled' },
  CONFLICT: { rpc: -32603, http: 409, grpc: 'ABORTED', text: 'The task was changed concurrently' },
} as const satisfies Record<string, ErrorRow>;

/** Stable identifier of an error; `reason` of `google.rpc.ErrorInfo`. */
export type ErrorReason = keyof typeof errorTable;

/** An invalid field; an entry of `google.rpc.BadRequest`. */
export interface FieldViolation {
  /** Path such as `message.parts[0].text`. */
  field: string;
  description: string;
}

/** Options of {@link A2AError}. */
export interface A2AErrorOptions {
  cause?: unknown;
  /** Which fields are wrong. */
  violations?: readonly FieldViolation[];
  /** Machine-readable facts, such as `taskId`. Sent to the peer. */
  details?: { readonly [key: string]: string };
  /** HTTP status of the response that caused the error. Not sent to the peer. */
  status?: number;
  /** How the user can fix the error. Not sent to the peer. */
  hint?: string;
}

/**
 * The only error that Dragoman throws on purpose.
 *
 * Test {@link A2AError.reason}; the message is for users and may change.
 */
export class A2AError extends Error {
  override readonly name = 'A2AError';
  readonly reason: ErrorReason;
  readonly violations: readonly FieldViolation[];
  readonly details: { readonly [key: string]: string };
  /** HTTP status of the response that caused the error. */
  readonly status: number | undefined;
  /** How the user can fix the error. */
  readonly hint: string | undefined;

  constructor(reason: ErrorReason, message: string = errorTable[reason].text, options: A2AErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.details = options.details ?? {};
    this.status = options.status;
    this.hint = options.hint;
  }

  /** Wraps any thrown value. Foreign errors become the `cause` of an `INTERNAL_ERROR`, so their messages are not sent to peers. */
  static from(thrown: unknown): A2AError {
    if (thrown instanceof A2AError) return thrown;
    return new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
  }
}

/** Creates the error of an invalid field. @param description - starts with "must" */
export function invalidField(field: string, description: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} ${description}`, { violations: [{ field, description }] });
}

/** Creates the error of a task that does not exist or belongs to another owner. */
export function taskNotFound(id: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', 'Task not found', { details: { taskId: id } });
}

/** Creates the error of an operation whose signal was aborted; the cause is `signal.reason`. */
export function canceledError({ reason }: AbortSignal): A2AError {
  return new A2AError('CANCELED', undefined, { cause: reason });
}
