import { asJsonObject } from '../../primitives/json.ts';
import { A2AError, errorTable, type FieldViolation, type ErrorReason } from '../../protocol/errors.ts';
import type { RestErrorCodec, RpcError, RpcErrorCodec } from '../dialect.ts';
import type { WireObject } from '../field-readers.ts';
import { reasonForCode, reasonForStatus } from '../v1_0/error.ts';

/** Errors that got their own code in later versions, with their code in 0.1. */
const olderCodes: ReadonlyMap<ErrorReason, number> = new Map<ErrorReason, number>([
  ['INVALID_AGENT_RESPONSE', -32603],
  ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', -32004],
  ['EXTENSION_SUPPORT_REQUIRED', -32600],
  ['VERSION_NOT_SUPPORTED', -32600],
  ['TASK_GENERATION_MISMATCH', -32603],
]);

/** Codes that the prose of 0.1 defines and later versions redefined. */
const proseCodes: ReadonlyMap<unknown, ErrorReason> = new Map<unknown, ErrorReason>([
  [-32006, 'UNSUPPORTED_OPERATION'],
  [-32007, 'UNAUTHENTICATED'],
  [-32008, 'PERMISSION_DENIED'],
  [-32009, 'UNSUPPORTED_OPERATION'],
  [-32010, 'RESOURCE_EXHAUSTED'],
  [-32011, 'UNAVAILABLE'],
]);

function readReason(code: unknown, data: WireObject): ErrorReason | undefined {
  if (typeof data.reason === 'string' && Object.hasOwn(errorTable, data.reason))
    return data.reason as ErrorReason;
  return reasonForCode(data.a2aCode) ?? proseCodes.get(code) ?? reasonForCode(code);
}

function readDetails(code: unknown, data: WireObject): { [key: string]: string } {
  const details: { [key: string]: string } = {};
  for (const [key, value] of Object.entries(asJsonObject(data.details) ?? {})) {
    if (typeof value === 'string') details[key] = value;
  }
  if (data.reason === undefined && data.a2aCode === undefined && proseCodes.has(code)) {
    details.legacyCode = String(code);
  }
  return details;
}

function readViolations(value: unknown): FieldViolation[] {
  if (!Array.isArray(value)) return [];
  return value
    .map((each) => asJsonObject(each) ?? {})
    .map(({ field, description }) => ({
      field: typeof field === 'string' ? field : '',
      description: typeof description === 'string' ? description : '',
    }));
}

function readError(error: unknown, status: number | undefined): A2AError {
  const wire = asJsonObject(error) ?? {};
  const data = asJsonObject(wire.data) ?? {};
  return new A2AError(
    readReason(wire.code, data) ??
      (status !== undefined && status >= 400 ? reasonForStatus(status) : 'INTERNAL_ERROR'),
    typeof wire.message === 'string' ? wire.message : undefined,
    {
      details: readDetails(wire.code, data),
      violations: readViolations(data.violations),
      status,
      cause: error,
    },
  );
}

/** Returns the information that the code lacks. `data` of a 0.1 error is an object or absent. */
function writeData(error: A2AError, code: number): WireObject | undefined {
  const data: WireObject = {};
  const { rpc } = errorTable[error.reason];
  if (rpc !== code) data.a2aCode = rpc;
  if (reasonForCode(code) !== error.reason) data.reason = error.reason;
  if (Object.keys(error.details).length > 0) data.details = error.details;
  if (error.violations.length > 0) data.violations = error.violations;
  return Object.keys(data).length > 0 ? data : undefined;
}

function writeError(error: A2AError): RpcError {
  const code = olderCodes.get(error.reason) ?? errorTable[error.reason].rpc;
  const data = writeData(error, code);
  return data ? { code, message: error.message, data } : { code, message: error.message };
}

/** Codec of 0.1 errors: reads the reason from the data, else from the code, else from the HTTP status. */
export const rpcError: RpcErrorCodec = { read: readError, write: writeError };

/** 0.1 has no REST; this reads errors of servers that respond with an HTTP error status. */
export const restError: RestErrorCodec = {
  read: (body, status) => readError(asJsonObject(body)?.error ?? body, status),
  write: (error) => ({ status: errorTable[error.reason].http, body: writeError(error) }),
};
