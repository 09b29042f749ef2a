import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { decodeProtobuf } from './decode-message.ts';
import { parseMessageSchema } from './message-schema.ts';

/** Names of the status codes of gRPC; the index is the number. */
export const grpcStatusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

/** Name of a status code of gRPC. */
export type GrpcStatusName = (typeof grpcStatusNames)[number];

/** The status of a call, as in its trailers. */
export interface GrpcStatus {
  /** Undefined if `grpc-status` is missing or not the number of a code. */
  readonly name: GrpcStatusName | undefined;
  readonly message: string;
  /** Details as JSON with `@type`; undefined if the trailers have none. */
  readonly details: readonly JsonObject[] | undefined;
  /** Code of the `google.rpc.Status` in the details. */
  readonly detailsCode: number | undefined;
  /** What is wrong with the encoding of message and details. */
  readonly problems: readonly string[];
}

/** The messages in the details of a status. */
export const statusSchema = parseMessageSchema(
  `Status: code 1 int32!, message 2 string, details 3 Any[]!
Any: typeUrl 1 string, value 2 bytes
ErrorInfo: reason 1 string, domain 2 string, metadata 3 string{}
BadRequest: fieldViolations 1 FieldViolation[]
FieldViolation: field 1 string, description 2 string`,
  {},
);

/** Reads the status of a call from its trailers, or from the headers of a response without messages. */
export function readStatus(trailers: Readonly<Record<string, string>>): GrpcStatus {
  const problems: string[] = [];
  const code = trailers['grpc-status'] ?? '';
  const message = decodePercent(trailers['grpc-message'] ?? '', problems);
  const encoded = trailers['grpc-status-details-bin'];
  const decoded = encoded === undefined ? undefined : decodeDetails(encoded, problems);
  return {
    name: /^\d{1,2}$/.test(code) ? grpcStatusNames[Number(code)] : undefined,
    message,
    details: decoded?.details,
    detailsCode: decoded?.code,
    problems,
  };
}

function decodePercent(text: string, problems: string[]): string {
  if (/[^ -~]/.test(text)) problems.push('grpc-message has characters that must be percent-encoded');
  try {
    // A percent sign that starts no pair of digits is part of the text.
    return decodeURIComponent(text.replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25'));
  } catch {
    problems.push('grpc-message is not percent-encoded UTF-8');
    return text;
  }
}

function decodeDetails(encoded: string, problems: string[]): { code: number; details: JsonObject[] } {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) problems.push('grpc-status-details-bin is not base64');
  const { json, problems: wire } = decodeProtobuf(statusSchema, 'Status', Buffer.from(encoded, 'base64'));
  problems.push(...wire.map(({ message }) => `grpc-status-details-bin: ${message}`));
  const details = (json.details as JsonObject[]).map(({ typeUrl = '', value = '' }) => {
    const type = String(typeUrl).split('/').at(-1)?.replace('google.rpc.', '') ?? '';
    if (!statusSchema.messages.has(type)) return { '@type': typeUrl, value };
    const any = decodeProtobuf(statusSchema, type, Buffer.from(String(value), 'base64'));
    problems.push(...any.problems.map((each) => `${type}: ${each.message}`));
    return { '@type': typeUrl, ...any.json };
  });
  return { code: Number(json.code), details };
}

/** Writes a status as JSON, for reports and for the rules of errors. */
export function statusToJson({ name, message, details }: GrpcStatus): JsonObject {
  return {
    error: {
      code: name === undefined ? -1 : grpcStatusNames.indexOf(name),
      status: name ?? 'none',
      message,
      details: (details ?? []).filter(isJsonObject),
    },
  };
}
