import type { ErrorResponse } from './error-response.ts';
import type { DecodedResponse } from './protocol-driver.ts';

/** Returns a one-line summary of a response for violation messages. */
export function describeResponse({ error, decodeError, result }: DecodedResponse): string {
  if (error) return describeError(error);
  if (decodeError !== undefined) return decodeError;
  return JSON.stringify(result)?.slice(0, 200) ?? 'no result';
}

/** Returns the code, reason and message of an error in one line. */
export function describeError({ code, httpStatus, grpcStatus, message, reason }: ErrorResponse): string {
  const status = grpcStatus ?? (code === undefined ? `HTTP ${httpStatus}` : `error ${code}`);
  const summary = [status, reason === grpcStatus ? undefined : reason].filter(Boolean).join(' ');
  return message === '' ? summary : `${summary}: ${message.slice(0, 160)}`;
}
