import { checkLength } from '../../dialects/field-readers.ts';
import { type HttpServerRequest, singleHeader } from '../http/http-message.ts';

/** Sets `idempotencyKey` of a request from its header, which contains a quoted string or a bare one. */
export function readIdempotencyKey(
  { headers }: HttpServerRequest,
  operationRequest: { idempotencyKey?: string },
): void {
  const header = singleHeader(headers, 'idempotency-key')?.trim();
  if (header === undefined || header === '') return;
  const isQuoted = header.length > 1 && header.startsWith('"') && header.endsWith('"');
  const key = isQuoted ? header.slice(1, -1) : header;
  if (key !== '') operationRequest.idempotencyKey = checkLength(key, 'Idempotency-Key', 'id');
}
