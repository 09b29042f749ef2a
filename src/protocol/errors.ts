/** JSON-RPC code, HTTP status, gRPC status and default message of an error. */
interface ErrorRow {
  rpc: number;
  http: number;
  grpc: string;
  text: string;
}

const row = (rpc: number, http: number, grpc: string, text: string): ErrorRow => ({ rpc, http, grpc, text });

/**
 * All errors of the specification, with the codes of 1.0.1, and the errors of transports. The only mapping between
 * reasons and codes.
 */
export const errorTable = {
  PARSE_ERROR: row(-32700, 400, 'INVALID_ARGUMENT', 'Invalid JSON payload'),
  INVALID_REQUEST: row(-32600, 400, 'INVALID_ARGUMENT', 'Invalid request'),
  METHOD_NOT_FOUND: row(-32601, 404, 'UNIMPLEMENTED', 'Method not found'),
  INVALID_PARAMS: row(-32602, 400, 'INVALID_ARGUMENT', 'Invalid parameters'),
  INTERNAL_ERROR: row(-32603, 500, 'INTERNAL', 'Internal error'),
  TASK_NOT_FOUND: row(-32001, 404, 'NOT_FOUND', 'Task not found'),
  TASK_NOT_CANCELABLE: row(-32002, 400, 'FAILED_PRECONDITION', 'Task cannot be canceled'),
  PUSH_NOTIFICATION_NOT_SUPPORTED: row(
    -32003,
    400,
    'FAILED_PRECONDITION',
    'Push notifications not supported',
  ),
  UNSUPPORTED_OPERATION: row(-32004, 400, 'FAILED_PRECONDITION', 'Operation not supported'),
  CONTENT_TYPE_NOT_SUPPORTED: row(-32005, 400, 'INVALID_ARGUMENT', 'Content type not supported'),
  INVALID_AGENT_RESPONSE: row(-32006, 500, 'INTERNAL', 'The agent returned an invalid response'),
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: row(
    -32007,
    400,
    'FAILED_PRECONDITION',
    'No extended agent card configured',
  ),
  EXTENSION_SUPPORT_REQUIRED: row(
    -32008,
    400,
    'FAILED_PRECONDITION',
    'A required extension was not requested',
  ),
  VERSION_NOT_SUPPORTED: row(-32009, 400, 'FAILED_PRECONDITION', 'Protocol version not supported'),
  TASK_GENERATION_MISMATCH: row(-32010, 409, 'ABORTED', 'The task has another generation'),
  UNAUTHENTICATED: row(-32600, 401, 'UNAUTHENTICATED', 'Authentication required'),
  PERMISSION_DENIED: row(-32600, 403, 'PERMISSION_DENIED', 'Permission denied'),
  NOT_FOUND: row(-32601, 404, 'NOT_FOUND', 'Not found'),
  METHOD_NOT_ALLOWED: row(-32600, 405, 'UNIMPLEMENTED', 'HTTP method not allowed'),
  PAYLOAD_TOO_LARGE: row(-32600, 413, 'RESOURCE_EXHAUSTED', 'Request too large'),
  RESOURCE_EXHAUSTED: row(-32603, 429, 'RESOURCE_EXHAUSTED', 'Too many requests'),
  UNAVAILABLE: row(-32603, 503, 'UNAVAILABLE', 'Agent unavailable'),
  TIMEOUT: row(-32603, 504, 'DEADLINE_EXCEEDED', 'Timeout exceeded'),
  CANCELED: row(-32603, 499, 'CANCELLED', 'Request canceled'),
  CONFLICT: row(-32603, 409, 'ABORTED', 'The task was changed concurrently'),
} satisfies Record<string, ErrorRow>;

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

/** Creates the error of a task that exists already, or that another process has changed. */
export function taskConflict(taskId: string): A2AError {
  return new A2AError('CONFLICT', undefined, { details: { taskId } });
}

/** Creates the error of a task that does not exist or belongs to another owner. */
export function taskNotFound(id: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', 'Task not found', { details: { taskId: id } });
}

/** Creates the error of an operation whose signal was aborted; the cause is `signal.reason`. */
export function canceledError({ reason }: AbortSignal): A2AError {
  return new A2AError('CANCELED', undefined, { cause: reason });
}
