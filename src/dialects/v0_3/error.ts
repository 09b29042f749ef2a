import { A2AError, errorTable, type ErrorReason } from '../../protocol/errors.ts';
import type { RestErrorCodec, RpcErrorCodec } from '../dialect.ts';
import type { WireObject } from '../field-readers.ts';
import { reasonForCode, reasonForStatus, rpcError as newer } from '../v1_0/error.ts';

/** The HTTP statuses of 0.3 that are not those of 1.0. The text has none; these are what its SDKs agree on most. */
const statuses: { readonly [reason in ErrorReason]?: number } = {
  TASK_NOT_CANCELABLE: 409,
  CONTENT_TYPE_NOT_SUPPORTED: 415,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: 404,
};

function asObject(value: unknown): WireObject {
  return (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) as WireObject;
}

/** What an error says about itself beside its reason: the texts in its data, and a code that nobody knows. */
function detailsOf(wire: WireObject): { [key: string]: string } {
  const details: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(asObject(wire.data))) {
    if (typeof value === 'string') details[key] = value;
  }
  if (typeof wire.code === 'number' && reasonForCode(wire.code) === undefined) {
    details.code = String(wire.code);
  }
  return details;
}

/** True for a code that several faults share for want of their own, so that the HTTP status may know more. */
function isVague(reason: ErrorReason): boolean {
  return reason === 'INVALID_REQUEST' || reason === 'INTERNAL_ERROR' || reason === 'METHOD_NOT_FOUND';
}

function readRpcError(error: unknown, status?: number): A2AError {
  const wire = asObject(error);
  // Who writes the details of 1.0 names the reason; the code is then only its shadow.
  const read = newer.read(error, status);
  const isVagueHere =
    isVague(read.reason) && status !== undefined && status > 400 && status !== 404 && status !== 500;
  return new A2AError(isVagueHere ? reasonForStatus(status) : read.reason, read.message, {
    details: { ...detailsOf(wire), ...read.details },
    violations: read.violations,
    status,
    cause: error,
  });
}

/**
 * Errors of 0.3 over JSON-RPC. The codes are those of 1.0, and `data` is free, so it holds the details of 1.0.
 * A code that nobody knows is an internal error that keeps its code in the details.
 */
export const rpcError: RpcErrorCodec = {
  read: readRpcError,
  write: (error) => newer.write(error),
};

/** The fault behind a status, where the body has words but no code, as Python servers send it. */
function reasonOfWords(status: number, message: string): ErrorReason {
  if (status === 404) return /card/i.test(message) ? 'EXTENDED_AGENT_CARD_NOT_CONFIGURED' : 'TASK_NOT_FOUND';
  if (status === 422) return 'INVALID_PARAMS';
  if (status === 501)
    return /push/i.test(message) ? 'PUSH_NOTIFICATION_NOT_SUPPORTED' : 'UNSUPPORTED_OPERATION';
  if (status === 502) return 'INVALID_AGENT_RESPONSE';
  return reasonForStatus(status);
}

/** Errors of 0.3 over REST: `{code, message, data?}` with the code of JSON-RPC, or only `{message}`. */
export const restError: RestErrorCodec = {
  read(body, status) {
    const outer = asObject(body);
    const wire = typeof outer.error === 'object' ? asObject(outer.error) : outer;
    const text = wire.message ?? wire.detail ?? outer.error;
    const message = typeof text === 'string' ? text : undefined;
    if (reasonForCode(wire.code) !== undefined) return readRpcError(wire, status);
    return new A2AError(
      message === undefined ? reasonForStatus(status) : reasonOfWords(status, message),
      message,
      { details: detailsOf(wire), status, cause: body },
    );
  },
  write: (error) => ({
    status: statuses[error.reason] ?? errorTable[error.reason].http,
    body: newer.write(error),
  }),
};
