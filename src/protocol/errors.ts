/** One fault: its JSON-RPC code, its HTTP and gRPC status, and its words when nobody has better ones. */
interface ErrorRow {
  rpc: number;
  http: number;
  grpc: string;
  text: string;
}

/**
 * Every fault the specification names, with the numbers of 1.0.1, and the few that transports add.
 * Bindings read this table; nothing else maps codes.
 */
export const errorTable = {
  PARSE_ERROR: { rpc: -32700, http: 400, grpc: 'INVALID_ARGUMENT', text: 'Invalid JSON payload' },
  INVALID_REQUEST: { rpc: -32600, http: 400, grpc: 'INVALID_ARGUMENT', text: 'Not a valid request' },
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
    text: 'Push notifications are not supported',
  },
  UNSUPPORTED_OPERATION: {
    rpc: -32004,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'This operation is not supported',
  },
  CONTENT_TYPE_NOT_SUPPORTED: {
    rpc: -32005,
    http: 400,
    grpc: 'INVALID_ARGUMENT',
    text: 'Content type is not supported',
  },
  INVALID_AGENT_RESPONSE: {
    rpc: -32006,
    http: 500,
    grpc: 'INTERNAL',
    text: 'The agent gave an invalid answer',
  },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    rpc: -32007,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'There is no extended agent card',
  },
  EXTENSION_SUPPORT_REQUIRED: {
    rpc: -32008,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'A required extension was not asked for',
  },
  VERSION_NOT_SUPPORTED: {
    rpc: -32009,
    http: 400,
    grpc: 'FAILED_PRECONDITION',
    text: 'This protocol version is not supported',
  },
  UNAUTHENTICATED: { rpc: -32600, http: 401, grpc: 'UNAUTHENTICATED', text: 'Authentication is required' },
  PERMISSION_DENIED: { rpc: -32600, http: 403, grpc: 'PERMISSION_DENIED', text: 'Not allowed' },
  NOT_FOUND: { rpc: -32601, http: 404, grpc: 'NOT_FOUND', text: 'There is nothing here' },
  METHOD_NOT_ALLOWED: {
    rpc: -32600,
    http: 405,
    grpc: 'UNIMPLEMENTED',
    text: 'This path takes another HTTP method',
  },
  PAYLOAD_TOO_LARGE: { rpc: -32600, http: 413, grpc: 'RESOURCE_EXHAUSTED', text: 'The request is too large' },
  RESOURCE_EXHAUSTED: { rpc: -32603, http: 429, grpc: 'RESOURCE_EXHAUSTED', text: 'Too many requests' },
  UNAVAILABLE: { rpc: -32603, http: 503, grpc: 'UNAVAILABLE', text: 'The agent is not available' },
  TIMEOUT: { rpc: -32603, http: 504, grpc: 'DEADLINE_EXCEEDED', text: 'The agent took too long' },
  CANCELED: { rpc: -32603, http: 499, grpc: 'CANCELLED', text: 'The caller gave up' },
  CONFLICT: { rpc: -32603, http: 409, grpc: 'ABORTED', text: 'Somebody else changed the task meanwhile' },
} as const satisfies Record<string, ErrorRow>;

/** The stable name of a fault, as `google.rpc.ErrorInfo.reason` carries it. */
export type ErrorReason = keyof typeof errorTable;

/** One field that is wrong, for `google.rpc.BadRequest`. */
export interface FieldViolation {
  /** The path of the field, such as `message.parts[0].text`. */
  field: string;
  description: string;
}

/** What an {@link A2AError} may carry beside its reason and message. */
export interface A2AErrorOptions {
  cause?: unknown;
  /** Which fields are wrong. */
  violations?: readonly FieldViolation[];
  /** Facts for programs, such as `taskId`. Shown to the peer. */
  details?: { readonly [key: string]: string };
  /** The HTTP status that brought the fault here. Not shown to the peer. */
  status?: number;
  /** What a person can do about it. Not shown to the peer. */
  hint?: string;
}

/**
 * The only error this toolkit throws on purpose.
 *
 * Switch on {@link A2AError.reason}; the message is for people and may change.
 */
export class A2AError extends Error {
  override readonly name = 'A2AError';
  /** Which fault this is. */
  readonly reason: ErrorReason;
  /** Which fields are wrong, if fields are. */
  readonly violations: readonly FieldViolation[];
  readonly details: { readonly [key: string]: string };
  /** The HTTP status that brought the fault here. */
  readonly status: number | undefined;
  /** What a person can do about it. */
  readonly hint: string | undefined;

  constructor(reason: ErrorReason, message: string = errorTable[reason].text, options: A2AErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.reason = reason;
    this.violations = options.violations ?? [];
    this.details = options.details ?? {};
    this.status = options.status;
    this.hint = options.hint;
  }

  /** Wraps anything thrown. A stranger's message stays in `cause`; it never reaches a peer. */
  static from(thrown: unknown): A2AError {
    if (thrown instanceof A2AError) return thrown;
    return new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
  }
}

/** Makes the error for a field that is not as it should be. */
export function invalidField(field: string, description: string): A2AError {
  return new A2AError('INVALID_PARAMS', `${field} ${description}`, { violations: [{ field, description }] });
}

/** Makes the error for a task that does not exist, or does not exist for this caller. */
export function taskNotFound(id: string): A2AError {
  return new A2AError('TASK_NOT_FOUND', 'Task not found', { details: { taskId: id } });
}
