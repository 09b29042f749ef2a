/**
 * What a payload on the mesh is: JSON-RPC, in the dialect that its method tells.
 *
 * @module
 */
import { NegotiationError, dialectForMethod, type MethodMatch } from '../dialects/negotiation.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { WireObject } from '../dialects/field-readers.ts';
import type { LossList } from '../dialects/translation-loss.ts';
import { v0_1 } from '../dialects/v0_1/index.ts';
import { v0_3 } from '../dialects/v0_3/index.ts';
import type { Operation } from '../protocol/agent.ts';
import { A2AError, errorTable, type ErrorReason } from '../protocol/errors.ts';
import { parseJsonOrUndefined } from '../primitives/json.ts';
import type { Task } from '../protocol/task.ts';

/** The id of a request; on the mesh mostly the id of its task. */
export type RpcId = string | number | null;

/** A request as it came, its envelope read and its params not yet. */
export interface MeshRpcRequest {
  readonly id: RpcId;
  readonly dialect: Dialect;
  readonly operation: Operation;
  /** True when 0.1 and 0.3 share the method: the task says which one it is. */
  readonly ambiguous: boolean;
  readonly params: unknown;
}

/** A payload that is no request; what can be said about it goes out in `dialect` under `id`. */
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
 * Reads the envelope of a request.
 *
 * @returns undefined for an answer that went astray: answering it could go on for ever.
 * @throws {@link UnreadableRequestError}
 */
export function readRequest(payload: string): MeshRpcRequest | undefined {
  const body = parseJsonOrUndefined(payload);
  if (body === undefined) throw new UnreadableRequestError('PARSE_ERROR', 'The payload is not JSON', null);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new UnreadableRequestError('INVALID_REQUEST', 'A request is a JSON object', null);
  }
  const { id: given, method, params, result, error } = body as WireObject;
  const id = typeof given === 'string' || Number.isFinite(given) ? (given as RpcId) : null;
  if (method === undefined && (result !== undefined || error !== undefined)) return undefined;
  if (typeof method !== 'string') {
    throw new UnreadableRequestError('INVALID_REQUEST', 'method must be a string', id);
  }
  return { id, params, ...choiceOf(method, id) };
}

function choiceOf(method: string, id: RpcId): MethodMatch {
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

/** Writes a request. */
export function writeRequest(id: RpcId, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

/** Writes a result that is in wire form already. */
export function writeResult(id: RpcId, result: unknown): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

/** Writes a task as the answer to a send; a receiver of 0.1 knows a task by its session alone. */
export function writeTaskResult(dialect: Dialect, task: Task, losses?: LossList): unknown {
  const wire = dialect.results.send.write(task, losses);
  return dialect === v0_1 ? { ...(wire as WireObject), sessionId: task.contextId } : wire;
}

/** Writes an error. On the mesh its data is an object that names agent and task, as receivers look for them there. */
export function writeError(id: RpcId, dialect: Dialect, error: A2AError): string {
  const written = dialect.rpcError.write(error);
  if (dialect !== v0_1 && dialect !== v0_3) return JSON.stringify({ jsonrpc: '2.0', id, error: written });
  const data: WireObject = { ...error.details };
  if (errorTable[error.reason].rpc !== written.code || !isFirstOfCode(error.reason))
    data.reason = error.reason;
  if (error.violations.length > 0) data.violations = error.violations;
  const { code, message } = written;
  const empty = Object.keys(data).length === 0;
  return JSON.stringify({ jsonrpc: '2.0', id, error: empty ? { code, message } : { code, message, data } });
}

/** True when the code alone tells the reason. */
function isFirstOfCode(reason: ErrorReason): boolean {
  const { rpc } = errorTable[reason];
  return (Object.keys(errorTable) as ErrorReason[]).find((each) => errorTable[each].rpc === rpc) === reason;
}

/** Reads an error; what its data says counts more than its code. */
export function readError(dialect: Dialect, wire: unknown): A2AError {
  const read = dialect.rpcError.read(wire);
  const data = (wire as { data?: unknown } | null)?.data;
  const reason = typeof data === 'object' && data !== null ? (data as WireObject).reason : undefined;
  if (typeof reason !== 'string' || !Object.hasOwn(errorTable, reason) || reason === read.reason) return read;
  const { message, details, violations, cause } = read;
  return new A2AError(reason as ErrorReason, message, { details, violations, cause });
}
