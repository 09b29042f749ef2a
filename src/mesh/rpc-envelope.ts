/**
 * JSON-RPC envelopes of payloads on the mesh. The method determines the dialect.
 *
 * @module
 */
import { NegotiationError, dialectForMethod, type MethodMatch } from '../dialects/negotiation.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { maxLengths, type WireObject } from '../dialects/field-readers.ts';
import type { LossList } from '../dialects/translation-loss.ts';
import { v0_1 } from '../dialects/v0_1/index.ts';
import { v0_3 } from '../dialects/v0_3/index.ts';
import type { Operation } from '../protocol/agent.ts';
import { A2AError, errorTable, type ErrorReason } from '../protocol/errors.ts';
import { asJsonObject, isJsonObject, parseJsonOrUndefined } from '../primitives/json.ts';
import type { Task } from '../protocol/task.ts';

/** Id of a JSON-RPC request; on the mesh usually the task id. */
export type RpcId = string | number | null;

/** A request whose envelope is decoded and whose params are not. */
export interface MeshRpcRequest {
  readonly id: RpcId;
  readonly dialect: Dialect;
  readonly operation: Operation;
  /** True if 0.1 and 0.3 share the method; the version of the task decides then. */
  readonly ambiguous: boolean;
  readonly params: unknown;
}

/** A payload that is not a valid request. The error response uses `dialect` and `id`. */
export class UnreadableRequestError extends A2AError {
  readonly dialect: Dialect;
  readonly id: RpcId;

  constructor(reason: ErrorReason, message: string, id: RpcId, dialect: Dialect = v0_3) {
    super(reason, message);
    this.id = id;
    this.dialect = dialect;
  }
}

/**
 * Decodes the envelope of a request.
 *
 * @returns undefined for a misdirected response. Responding to it could cause an endless loop.
 * @throws {@link UnreadableRequestError}
 */
export function readRequest(payload: string): MeshRpcRequest | undefined {
  const body = parseJsonOrUndefined(payload);
  if (body === undefined) throw new UnreadableRequestError('PARSE_ERROR', 'The payload is not JSON', null);
  if (!isJsonObject(body)) {
    throw new UnreadableRequestError('INVALID_REQUEST', 'A request must be a JSON object', null);
  }
  const { id: rawId, method, params, result, error } = body;
  const id = typeof rawId === 'string' || Number.isFinite(rawId) ? (rawId as RpcId) : null;
  if (typeof id === 'string' && id.length > maxLengths.id)
    throw new UnreadableRequestError(
      'INVALID_REQUEST',
      `id must have at most ${maxLengths.id} characters`,
      null,
    );
  if (method === undefined && (result !== undefined || error !== undefined)) return undefined;
  if (typeof method !== 'string') {
    throw new UnreadableRequestError('INVALID_REQUEST', 'method must be a string', id);
  }
  return { id, params, ...matchMethod(method, id) };
}

function matchMethod(method: string, id: RpcId): MethodMatch {
  try {
    return dialectForMethod(method, undefined, { lenient: true });
  } catch (thrown) {
    const { reason, message } = A2AError.from(thrown);
    throw new UnreadableRequestError(
      reason,
      `${message}: ${method.slice(0, 100)}`,
      id,
      thrown instanceof NegotiationError ? thrown.dialect : v0_3,
    );
  }
}

export function writeRequest(id: RpcId, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** Formats a response with an encoded result. */
export function writeResult(id: RpcId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** Encodes a task as the result of a send. A 0.1 receiver identifies the task by its session id. */
export function writeTaskResult(dialect: Dialect, task: Task, losses?: LossList): unknown {
  const wire = dialect.results.send.write(task, losses);
  return dialect === v0_1 ? { ...(wire as WireObject), sessionId: task.contextId } : wire;
}

/** Formats an error response. Receivers on the mesh expect an object with the agent and the task in `data`. */
export function writeError(id: RpcId, dialect: Dialect, error: A2AError): string {
  const written = dialect.rpcError.write(error);
  if (dialect !== v0_1 && dialect !== v0_3) return JSON.stringify({ jsonrpc: '2.0', id, error: written });
  const data: WireObject = { ...error.details };
  if (errorTable[error.reason].rpc !== written.code || !isFirstOfCode(error.reason))
    data.reason = error.reason;
  if (error.violations.length > 0) data.violations = error.violations;
  const { code, message } = written;
  const hasData = Object.keys(data).length > 0;
  return JSON.stringify({ jsonrpc: '2.0', id, error: hasData ? { code, message, data } : { code, message } });
}

/** Returns true if the code alone identifies the reason. */
function isFirstOfCode(reason: ErrorReason): boolean {
  const { rpc } = errorTable[reason];
  return (Object.keys(errorTable) as ErrorReason[]).find((each) => errorTable[each].rpc === rpc) === reason;
}

/** Decodes an error. The reason in its data takes precedence over its code. */
export function readError(dialect: Dialect, wire: unknown): A2AError {
  const error = dialect.rpcError.read(wire);
  const reason = asJsonObject((wire as { data?: unknown } | null)?.data)?.reason;
  if (typeof reason !== 'string' || !Object.hasOwn(errorTable, reason) || reason === error.reason)
    return error;
  const { message, details, violations, cause } = error;
  return new A2AError(reason as ErrorReason, message, { details, violations, cause });
}
