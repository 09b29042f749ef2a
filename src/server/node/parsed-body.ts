import { A2AError } from '../../protocol/errors.ts';
import type { MountedMessage } from './mounted-url.ts';
import { bodyTooLarge, bodyToText } from './request-body.ts';

/** Tells the developer of the host application what to change. It reveals nothing about the application. */
const bodyIsLost =
  'The request body was read before it reached the agent. Mount the agent before the body parser, or pass the parsed body as `body` of the request';

/** Returns the text of a body that a body parser of a framework has read. */
export function readParsedBody(
  { body, rawBody, readableDidRead }: MountedMessage,
  maxBodyBytes: number,
): string | A2AError {
  const text = bodyText(rawBody instanceof Uint8Array ? rawBody : body);
  if (text === undefined) return readableDidRead ? new A2AError('INTERNAL_ERROR', bodyIsLost) : '';
  if (text instanceof A2AError) return text;
  // A character has one to three bytes.
  const isTooLarge =
    text.length > maxBodyBytes || (text.length * 3 > maxBodyBytes && Buffer.byteLength(text) > maxBodyBytes);
  return isTooLarge ? bodyTooLarge(maxBodyBytes) : text;
}

function bodyText(body: unknown): string | A2AError | undefined {
  if (body === undefined || typeof body === 'string') return body;
  if (body instanceof Uint8Array)
    return bodyToText(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  try {
    return JSON.stringify(body);
  } catch (cause) {
    return new A2AError('PARSE_ERROR', 'The body must be JSON', { cause });
  }
}
