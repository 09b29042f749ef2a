import type { IncomingMessage, ServerResponse } from 'node:http';
import { nodeModule } from '../../primitives/node/node-module.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpServerResponse } from '../http/http-message.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { bodiesExceeded } from '../limits/server-budgets.ts';
import { sendResponse } from './send-response.ts';

/**
 * Reads the body of a request as text. `done` receives an error if it is too large or not UTF-8.
 *
 * @param reservation - counts the bytes of large bodies; the caller releases it.
 */
export function readBodyText(
  incoming: IncomingMessage,
  maxBodyBytes: number,
  done: (body: string | A2AError) => void,
  reservation?: ByteReservation,
): void {
  if (Number(incoming.headers['content-length']) > maxBodyBytes) {
    done(bodyTooLarge(maxBodyBytes));
    return;
  }
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let counted = 0;
  let isRejected = false;
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    const error = isRejected ? undefined : sizeError();
    if (error) {
      isRejected = true;
      first = undefined;
      more = undefined;
      done(error);
    }
    if (isRejected) return;
    if (first === undefined) first = chunk;
    else (more ??= [first]).push(chunk);
  });
  function sizeError(): A2AError | undefined {
    if (size > maxBodyBytes) return bodyTooLarge(maxBodyBytes);
    if (!reservation || size < minCountedBytes) return undefined;
    if (!reservation.grow(size - counted)) return bodiesExceeded();
    counted = size;
    return undefined;
  }
  incoming.on('end', () => {
    if (isRejected) return;
    if (first === undefined) {
      done('');
      return;
    }
    const bytes = more ? Buffer.concat(more) : first;
    // Frees the buffers: an open stream references the request, which references this closure.
    first = undefined;
    more = undefined;
    done(bodyToText(bytes));
  });
}

let isUtf8: typeof import('node:buffer').isUtf8 | undefined;

/** Returns the text of a complete body, or an error if it is not UTF-8. */
export function bodyToText(bytes: Buffer): string | A2AError {
  isUtf8 ??= nodeModule('node:buffer').isUtf8;
  return isUtf8(bytes) ? bytes.toString('utf8') : new A2AError('PARSE_ERROR', 'The body must be UTF-8');
}

/** Returns the error of a body above `maxBodyBytes`. */
export function bodyTooLarge(maxBodyBytes: number): A2AError {
  return new A2AError('PAYLOAD_TOO_LARGE', `Request body exceeds ${maxBodyBytes} bytes`, {
    details: { limit: 'maxBodyBytes' },
  });
}

/** Milliseconds for which the rest of a rejected body is discarded before the connection is closed. */
const discardTimeout = 1_000;

/**
 * Sends an error response and discards the rest of the body for a while: a client that is still sending would not see
 * the response if the connection were closed at once.
 */
export function rejectBody(
  response: HttpServerResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBodyBytes: number,
): void {
  if (incoming.complete) {
    sendResponse(outgoing, response);
    return;
  }
  const text = (response.body as string | undefined) ?? '';
  const length = String(Buffer.byteLength(text));
  outgoing.writeHead(response.status, [...response.headers, 'Connection', 'close', 'Content-Length', length]);
  outgoing.write(text);
  let remaining = maxBodyBytes;
  const closeTimer = setTimeout(() => incoming.destroy(), discardTimeout);
  incoming.on('data', (chunk: Buffer) => {
    remaining -= chunk.length;
    if (remaining < 0) incoming.destroy();
  });
  incoming.on('end', () => outgoing.end());
  incoming.on('error', () => outgoing.destroy());
  outgoing.on('close', () => clearTimeout(closeTimer));
}

/** Maximum `Content-Length` of a rejected body for which the connection is kept. */
const maxKeptBody = 64 * 1_024;

/** Rejects a request whose body has not been read. */
export function rejectUnread(
  response: HttpServerResponse,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  maxBodyBytes: number,
): void {
  const { 'content-length': length = 0, 'transfer-encoding': encoding } = incoming.headers;
  // Node discards the rest of a short body itself.
  if (encoding === undefined && Number(length) <= maxKeptBody) sendResponse(outgoing, response);
  else rejectBody(response, incoming, outgoing, maxBodyBytes);
}
