import { A2AError, errorTable, type FieldViolation, type ErrorReason } from '../../protocol/errors.ts';
import type { RestErrorCodec, RpcErrorCodec } from '../dialect.ts';
import type { WireObject } from '../field-readers.ts';

const errorInfo = 'type.googleapis.com/google.rpc.ErrorInfo';
const badRequest = 'type.googleapis.com/google.rpc.BadRequest';
const domain = 'a2a-protocol.org';

const reasonsByCode: ReadonlyMap<number, ErrorReason> = new Map(
  // The first reason of a code is that of the specification; later ones share the code because they have none.
  (Object.keys(errorTable) as ErrorReason[]).toReversed().map((reason) => [errorTable[reason].rpc, reason]),
);

const reasonsByStatus: ReadonlyMap<number, ErrorReason> = new Map<number, ErrorReason>([
  [400, 'INVALID_REQUEST'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'METHOD_NOT_ALLOWED'],
  [408, 'UNAVAILABLE'],
  // 1.0.0 used 409 for this reason, and 415 and 502 for the next two.
  [409, 'TASK_NOT_CANCELABLE'],
  [413, 'PAYLOAD_TOO_LARGE'],
  [415, 'CONTENT_TYPE_NOT_SUPPORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [502, 'UNAVAILABLE'],
  [503, 'UNAVAILABLE'],
  [504, 'TIMEOUT'],
]);

/** Returns the reason for an HTTP status. */
export function reasonForStatus(status: number): ErrorReason {
  return reasonsByStatus.get(status) ?? (status >= 500 ? 'INTERNAL_ERROR' : 'INVALID_REQUEST');
}

/** Returns the reason for a JSON-RPC code. */
export function reasonForCode(code: unknown): ErrorReason | undefined {
  return typeof code === 'number' ? reasonsByCode.get(code) : undefined;
}

function writeDetails(error: A2AError): unknown[] {
  const details: unknown[] = [{ '@type': errorInfo, reason: error.reason, domain, metadata: error.details }];
  if (error.violations.length > 0) details.push({ '@type': badRequest, fieldViolations: error.violations });
  return details;
}

interface Details {
  reason: ErrorReason | undefined;
  metadata: { [key: string]: string };
  violations: FieldViolation[];
}

function readDetails(value: unknown): Details {
  const read: Details = { reason: undefined, metadata: {}, violations: [] };
  if (!Array.isArray(value)) return read;
  for (const detail of value as unknown[]) {
    if (typeof detail !== 'object' || detail === null) continue;
    const wire = detail as WireObject;
    const type = String(wire['@type']);
    if (type.endsWith('google.rpc.ErrorInfo')) readErrorInfo(wire, read);
    if (type.endsWith('google.rpc.BadRequest') && Array.isArray(wire.fieldViolations)) {
      for (const each of wire.fieldViolations as WireObject[]) {
        read.violations.push({
          field: textOrNothing(each?.field),
          description: textOrNothing(each?.description),
        });
      }
    }
  }
  return read;
}

function textOrNothing(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readErrorInfo(wire: WireObject, read: Details): void {
  if (typeof wire.reason === 'string' && Object.hasOwn(errorTable, wire.reason))
    read.reason = wire.reason as ErrorReason;
  if (typeof wire.metadata !== 'object' || wire.metadata === null) return;
  for (const [key, value] of Object.entries(wire.metadata)) {
    if (typeof value === 'string') read.metadata[key] = value;
  }
}

/** Codec of 1.0 JSON-RPC errors: reads the reason, else the code, else the HTTP status. */
export const rpcError: RpcErrorCodec = {
  read(error, status) {
    const wire = (typeof error === 'object' && error !== null ? error : {}) as WireObject;
    const { reason, metadata, violations } = readDetails(wire.data);
    return new A2AError(
      reason ??
        reasonForCode(wire.code) ??
        (status !== undefined && status >= 400 ? reasonForStatus(status) : 'INTERNAL_ERROR'),
      typeof wire.message === 'string' ? wire.message : undefined,
      { details: metadata, violations, status, cause: error },
    );
  },
  write: (error) => ({
    code: errorTable[error.reason].rpc,
    message: error.message,
    data: writeDetails(error),
  }),
};

/** Codec of 1.0 REST errors. Also reads problem details (RFC 9457) as in older examples. */
export const restError: RestErrorCodec = {
  read(body, status) {
    const outer = (typeof body === 'object' && body !== null ? body : {}) as WireObject;
    const wire = (
      typeof outer.error === 'object' && outer.error !== null ? outer.error : outer
    ) as WireObject;
    const { reason, metadata, violations } = readDetails(wire.details);
    const text = wire.message ?? wire.detail ?? wire.title;
    return new A2AError(
      reason ?? reasonForCode(wire.code) ?? reasonForStatus(status),
      typeof text === 'string' ? text : undefined,
      { details: metadata, violations, status, cause: body },
    );
  },
  write(error) {
    const { http, grpc } = errorTable[error.reason];
    return {
      status: http,
      body: { error: { code: http, status: grpc, message: error.message, details: writeDetails(error) } },
    };
  },
};
