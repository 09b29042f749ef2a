import { A2AError, errorTable, type ErrorReason, type FieldViolation } from '../../protocol/errors.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { fromBase64, toBase64 } from './base64.ts';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import { buildMessageTypes } from './message-type.ts';

/** Status codes of gRPC. The index is the number. */
const codes = [
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

const types = buildMessageTypes(
  {
    Status: { code: '1 int32', message: '2 string', details: '3 Any[]' },
    Any: { typeUrl: '1 string', value: '2 bytes' },
    ErrorInfo: { reason: '1 string', domain: '2 string', metadata: '3 string{}' },
    BadRequest: { fieldViolations: '1 FieldViolation[]' },
    FieldViolation: { field: '1 string', description: '2 string' },
  },
  {},
);

const typeUrl = (name: string): string => `type.googleapis.com/google.rpc.${name}`;

/** Reasons for status codes without details. */
const reasonsByCode: ReadonlyMap<string, ErrorReason> = new Map<string, ErrorReason>([
  ['CANCELLED', 'CANCELED'],
  ['INVALID_ARGUMENT', 'INVALID_PARAMS'],
  ['DEADLINE_EXCEEDED', 'TIMEOUT'],
  ['NOT_FOUND', 'TASK_NOT_FOUND'],
  ['PERMISSION_DENIED', 'PERMISSION_DENIED'],
  ['RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'],
  ['FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION'],
  ['ABORTED', 'CONFLICT'],
  ['UNIMPLEMENTED', 'UNSUPPORTED_OPERATION'],
  ['UNAVAILABLE', 'UNAVAILABLE'],
  ['UNAUTHENTICATED', 'UNAUTHENTICATED'],
]);

/** Trailers of a call. */
export interface GrpcTrailers {
  readonly 'grpc-status': string;
  readonly 'grpc-message'?: string;
  readonly 'grpc-status-details-bin'?: string;
}

/** Trailers of a call that succeeded. */
export const okTrailers: GrpcTrailers = { 'grpc-status': '0' };

/** Status codes that the SDKs of 0.3 use for errors that have another one in 1.0. */
const codes0_3: { readonly [reason in ErrorReason]?: (typeof codes)[number] } = {
  PUSH_NOTIFICATION_NOT_SUPPORTED: 'UNIMPLEMENTED',
  UNSUPPORTED_OPERATION: 'UNIMPLEMENTED',
};

/** Returns the trailers of a call that failed. */
export function writeGrpcStatus(error: A2AError, version: ProtocolVersion = '1.0'): GrpcTrailers {
  const { reason, message, details, violations } = error;
  const older = version === '1.0' ? undefined : codes0_3[reason];
  const code = codes.indexOf(older ?? (errorTable[reason].grpc as (typeof codes)[number]));
  const any = (name: 'ErrorInfo' | 'BadRequest', value: unknown) => ({
    typeUrl: typeUrl(name),
    value: toBase64(encodeMessage(types[name], value)),
  });
  const status = {
    code,
    message,
    details: [
      any('ErrorInfo', { reason, domain: 'a2a-protocol.org', metadata: details }),
      ...(violations.length > 0 ? [any('BadRequest', { fieldViolations: violations })] : []),
    ],
  };
  return {
    'grpc-status': String(code),
    'grpc-message': percentEncode(message),
    // Binary metadata has no padding.
    'grpc-status-details-bin': stripTrailing(toBase64(encodeMessage(types.Status, status)), '='),
  };
}

/**
 * Returns the error of the trailers of a call, or undefined if it succeeded.
 *
 * @param operation - the operation that was called.
 */
export function readGrpcStatus(
  trailers: { readonly [name: string]: unknown },
  operation?: Operation,
): A2AError | undefined {
  const number = Number(trailers['grpc-status'] ?? 2);
  if (number === 0) return undefined;
  const code = codes[number] ?? 'UNKNOWN';
  const encoded = trailers['grpc-message'];
  const text = typeof encoded === 'string' ? percentDecode(encoded) : '';
  const { reason, metadata, violations } = readDetails(trailers['grpc-status-details-bin']);
  const known = reason ?? guessReason(code, text, operation) ?? reasonsByCode.get(code) ?? 'INTERNAL_ERROR';
  return new A2AError(known, text === '' ? undefined : text, {
    details: metadata,
    violations,
    cause: { code, message: text },
  });
}

/** How servers without details tell that they have no such method. */
const noMethod = /not implement the method|method not found|unknown (?:service|method)/i;

/** Reasons of errors without details, by operation, where a status code has several meanings. */
const reasonsByOperation: { readonly [code: string]: { readonly [O in Operation]?: ErrorReason } } = {
  FAILED_PRECONDITION: {
    cancelTask: 'TASK_NOT_CANCELABLE',
    extendedCard: 'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  },
  UNIMPLEMENTED: {
    createPushConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    getPushConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    listPushConfigs: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    deletePushConfig: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
  },
};

/** Finds the reason of an error without details: by the name that some SDKs put in front of the message, or by the operation. */
function guessReason(
  code: string,
  message: string,
  operation: Operation | undefined,
): ErrorReason | undefined {
  const name = /^([A-Z][A-Za-z]{1,60})Error:/.exec(message)?.[1];
  const reason = name?.replaceAll(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  if (reason !== undefined && Object.hasOwn(errorTable, reason)) return reason as ErrorReason;
  if (code === 'UNIMPLEMENTED' && noMethod.test(message)) return 'METHOD_NOT_FOUND';
  return operation && reasonsByOperation[code]?.[operation];
}

interface Details {
  reason?: ErrorReason;
  metadata: { [name: string]: string };
  violations: FieldViolation[];
}

function readDetails(header: unknown): Details {
  const details: Details = { metadata: {}, violations: [] };
  if (typeof header !== 'string') return details;
  try {
    const status = decodeMessage(types.Status, fromBase64(header)) as {
      details?: { typeUrl?: string; value?: string }[];
    };
    for (const { typeUrl: url = '', value = '' } of status.details ?? []) {
      if (url === typeUrl('ErrorInfo')) {
        const info = decodeMessage(types.ErrorInfo, fromBase64(value));
        const { reason, metadata } = info as { reason?: string; metadata?: { [name: string]: string } };
        if (reason !== undefined && Object.hasOwn(errorTable, reason)) details.reason = reason as ErrorReason;
        details.metadata = metadata ?? {};
      } else if (url === typeUrl('BadRequest')) {
        const request = decodeMessage(types.BadRequest, fromBase64(value)) as {
          fieldViolations?: Partial<FieldViolation>[];
        };
        for (const { field = '', description = '' } of request.fieldViolations ?? [])
          details.violations.push({ field, description });
      }
    }
  } catch {
    // Details that cannot be read leave the code of the status.
  }
  return details;
}

/** Encodes a message for a header: printable ASCII except the percent sign stays as it is. */
function percentEncode(text: string): string {
  return text.replace(/[^ -$&-~]/gu, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );
}

function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
