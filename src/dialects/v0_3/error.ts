import { asJsonObject } from '../../primitives/json.ts';
import { A2AError, errorTable, type ErrorReason } from '../../protocol/errors.ts';
import type { RestErrorCodec, RpcErrorCodec } from '../dialect.ts';
import type { WireObject } from '../field-readers.ts';
import { reasonForCode, reasonForStatus, rpcError as newer } from '../v1_0/error.ts';

/** HTTP statuses of 0.3 that differ from 1.0. The specification has none; most SDKs use these. */
const statuses: { readonly [reason in ErrorReason]?: number } = {
  TASK_NOT_CANCELABLE: 409,
  CONTENT_TYPE_NOT_SUPPORTED: 415,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 404,
};

/** Returns the strings in the data of an error, and an unknown code. */
function detailsOf(wire: WireObject): { [key: string]: string } {
  const details: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(asJsonObject(wire.data) ?? {})) {
    if (typeof value === 'string') details[key] = value;
  }
  if (typeof wire.code === 'number' && reasonForCode(wire.code) === undefined) {
    details.code = String(wire.code);
  }
  return details;
}

/** Returns true for a code that several errors share; the HTTP status may be more specific. */
function isSharedCode(reason: ErrorReason): boolean {
  return reason === 'INVALID_REQUEST' || reason === 'INTERNAL_ERROR' || reason === 'METHOD_NOT_FOUND';
}

function readRpcError(error: unknown, status?: number): A2AError {
  const wire = asJsonObject(error) ?? {};
  // Details in the 1.0 format contain the reason, which takes precedence over the code.
  const read = newer.read(error, status);
  const isStatusBetter =
    isSharedCode(read.reason) && status !== undefined && status > 400 && status !== 404 && status !== 500;
  return new A2AError(isStatusBetter ? reasonForStatus(status) : read.reason, read.message, {
    details: { ...detailsOf(wire), ...read.details },
    violations: read.violations,
    status,
    cause: error,
  });
}

/**
 * Codec of 0.3 JSON-RPC errors: the codes and the details of 1.0. An unknown code is an internal error with the code in
 * its details.
 */
export const rpcError: RpcErrorCodec = { read: readRpcError, write: (error) => newer.write(error) };

/** Returns the reason for a status and a message without code, as Python servers send. */
function reasonForMessage(status: number, message: string): ErrorReason {
  if (status === 404) return /card/i.test(message) ? 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' : 'TASK_NOT_FOUND';
  if (status === 422) return 'INVALID_PARAMS';
  if (status === 501)
    return /push/i.test(message) ? 'PUSH_NOTIFICATION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION';
  if (status === 502) return 'INVALID_AGENT_RESPONSE';
  return reasonForStatus(status);
}

/** Codec of 0.3 REST errors: `{code, message, data?}` with the JSON-RPC code, or only `{message}`. */
export const restError: RestErrorCodec = {
  read(body, status) {
    const outer = asJsonObject(body) ?? {};
    const wire = typeof outer.error === 'object' ? (asJsonObject(outer.error) ?? {}) : outer;
    const text = wire.message ?? wire.detail ?? outer.error;
    const message = typeof text === 'string' ? text : undefined;
    if (reasonForCode(wire.code) !== undefined) return readRpcError(wire, status);
    return new A2AError(
      message === undefined ? reasonForStatus(status) : reasonForMessage(status, message),
      message,
      { details: detailsOf(wire), status, cause: body },
    );
  },
  write: (error) => ({
    status: statuses[error.reason] ?? errorTable[error.reason].http,
    body: newer.write(error),
  }),
};
