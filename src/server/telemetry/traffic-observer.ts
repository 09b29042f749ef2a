import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { SseStream } from '../http/sse-stream.ts';
import { reportHookError } from './report-error.ts';

/** How a response ended. `stalled`: aborted because the client did not read. */
export type TrafficEnd = 'complete' | 'failed' | 'disconnected' | 'stalled';

/** Observes the response to one request verbatim. */
export interface TrafficListener {
  /** Called with the response. If its body is a stream, `frame` and `ended` follow. */
  responded(response: HttpServerResponse): void;
  /** Called with each frame of a stream. */
  frame(text: string): void;
  /** Called at the end. May be called twice; not called for complete responses that are not streams. */
  ended(end: TrafficEnd): void;
}

/** Observes each request, including its body, before it is handled. @returns a listener for the response. */
export type TrafficObserver = (request: HttpServerRequest) => TrafficListener | undefined;

/** Passes a request and its response to the observer and writes its errors to standard error. */
export function observeTraffic(
  observer: TrafficObserver | undefined,
  request: HttpServerRequest,
): (response: HttpServerResponse) => HttpServerResponse {
  if (!observer) return (response) => response;
  let listener: TrafficListener | undefined;
  const notify = (call: (target: TrafficListener) => void): void => {
    try {
      if (listener) call(listener);
    } catch (error) {
      reportHookError('onTraffic', error);
    }
  };
  try {
    listener = observer(request);
  } catch (error) {
    reportHookError('onTraffic', error);
    return (response) => response;
  }
  request.onDisconnect(() => notify((target) => target.ended('disconnected')));
  return (response) => {
    notify((target) => target.responded(response));
    if (response.body instanceof SseStream)
      response.body.traffic = {
        frame: (text) => notify((target) => target.frame(text)),
        ended: (end) => notify((target) => target.ended(end)),
      };
    return response;
  };
}
