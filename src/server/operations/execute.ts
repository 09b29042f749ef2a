import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { checkRequestSize } from '../limits/limits.ts';
import { invokeUnary, type OperationCall, invokeStream, type OpenedStream } from './invoke-agent.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** Does an operation that answers once, within the limits and in view of whoever watches. */
export function executeUnary(
  face: ServerContext,
  exchange: HttpServerRequest,
  asked: OperationCall,
  inOrigin?: (task: Task) => Dialect,
): Promise<string> {
  const { telemetry: visit } = exchange;
  visit?.setOperation(asked, exchange);
  checkRequestSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.limiter.acquireRequest(exchange);
  const { responseTimeout: answerTimeout = 0 } = face.limits;
  try {
    const answering = visit
      ? visit.traced(asked, () => invokeUnary(asked, inOrigin))
      : invokeUnary(asked, inOrigin);
    const inLimits = answerTimeout > 0 ? inTime(answering, answerTimeout) : answering;
    return visitor ? inLimits.finally(() => face.limiter.releaseRequest(visitor)) : inLimits;
  } catch (error) {
    if (visitor) face.limiter.releaseRequest(visitor);
    throw error;
  }
}

/** Opens a stream, within the limits and in view of whoever watches. */
export function executeStream(
  face: ServerContext,
  exchange: HttpServerRequest,
  asked: OperationCall,
  toStream: (opened: OpenedStream) => SseStream | Promise<SseStream>,
): Promise<HttpServerResponse> | HttpServerResponse {
  const { telemetry: visit } = exchange;
  visit?.setOperation(asked, exchange);
  checkRequestSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.limiter.acquireStream(exchange);
  const fail = (error: unknown): never => {
    face.limiter.releaseStream(visitor);
    throw error;
  };
  const begin = (opened: OpenedStream): Promise<HttpServerResponse> | HttpServerResponse => {
    visit?.streamStarted(opened.first);
    const stream = toStream(opened);
    return stream instanceof Promise
      ? stream.then((each) => face.streamResponse(each, exchange, visitor))
      : face.streamResponse(stream, exchange, visitor);
  };
  try {
    const opened = visit ? visit.traced(asked, async () => invokeStream(asked)) : invokeStream(asked);
    const reply = opened instanceof Promise ? opened.then(begin) : begin(opened);
    return reply instanceof Promise ? reply.catch(fail) : reply;
  } catch (error) {
    return fail(error);
  }
}

function inTime<T>(answering: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () =>
      reject(
        new A2AError('TIMEOUT', `There was no answer within ${milliseconds} ms; the task may go on`, {
          details: { limit: 'answerTimeout' },
        }),
      );
    const timer = setTimeout(late, milliseconds);
    answering.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
