import { quietLogSink, writeErrors } from '../../primitives/log.ts';
import type { A2AError } from '../../protocol/errors.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';

/** Reports an error of the server or agent to `onError`, or else to the log. Never throws. */
export function reportError(
  { onError, log }: Pick<ServerOptions, 'onError' | 'log'>,
  error: A2AError,
  request: HttpServerRequest,
): void {
  if (!onError) {
    quietLogSink(log)({ level: 'error', message: `${request.method} ${request.path} failed`, error });
    return;
  }
  try {
    onError(error, request);
  } catch (thrown) {
    reportHookError('onError', thrown);
  }
}

/** Writes the error of a hook that must not affect the response. */
export function reportHookError(hook: string, error: unknown): void {
  writeErrors({ level: 'error', message: `${hook} failed`, error });
}
