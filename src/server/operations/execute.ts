import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { checkRequestSize, defaultLimits } from '../limits/limits.ts';
import { invokeUnary, type OperationCall, invokeStream, type OpenedStream } from './invoke-agent.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** Executes an operation with a single response, with limits and telemetry. */
export function executeUnary(
  context: ServerContext,
  request: HttpServerRequest,
  operationCall: OperationCall,
  originDialect?: (task: Task) => Dialect,
): Promise<string> {
  const { telemetry } = request;
  telemetry?.setOperation(operationCall, request);
  checkRequestSize(operationCall.request, context.limits, request.bodyLength ?? request.body.length);
  const usage = context.limiter.acquireRequest(request);
  const { responseTimeout = defaultLimits.responseTimeout } = context.limits;
  try {
    const result = telemetry
      ? telemetry.trace(operationCall, () => invokeUnary(operationCall, originDialect))
      : invokeUnary(operationCall, originDialect);
    const limited = responseTimeout > 0 ? withTimeout(result, responseTimeout) : result;
    return usage ? limited.finally(() => context.limiter.releaseRequest(usage)) : limited;
  } catch (error) {
    if (usage) context.limiter.releaseRequest(usage);
    throw error;
  }
}

/** Executes a streaming operation, with limits and telemetry. */
export function executeStream(
  context: ServerContext,
  request: HttpServerRequest,
  operationCall: OperationCall,
  toStream: (opened: OpenedStream) => SseStream | Promise<SseStream>,
): Promise<HttpServerResponse> | HttpServerResponse {
  const { telemetry } = request;
  telemetry?.setOperation(operationCall, request);
  checkRequestSize(operationCall.request, context.limits, request.bodyLength ?? request.body.length);
  const usage = context.limiter.acquireStream(request);
  const fail = (error: unknown): never => {
    context.limiter.releaseStream(usage);
    throw error;
  };
  const startStream = (opened: OpenedStream): Promise<HttpServerResponse> | HttpServerResponse => {
    telemetry?.streamStarted(opened.first);
    const stream = toStream(opened);
    return stream instanceof Promise
      ? stream.then((each) => context.streamResponse(each, request, usage))
      : context.streamResponse(stream, request, usage);
  };
  try {
    const opened = telemetry
      ? telemetry.trace(operationCall, async () => invokeStream(operationCall))
      : invokeStream(operationCall);
    const response = opened instanceof Promise ? opened.then(startStream) : startStream(opened);
    return response instanceof Promise ? response.catch(fail) : response;
  } catch (error) {
    return fail(error);
  }
}

function withTimeout<T>(result: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const onTimeout = () =>
      reject(
        new A2AError('TIMEOUT', `No response within ${milliseconds} ms; the task may still be running`, {
          details: { limit: 'responseTimeout' },
        }),
      );
    const timer = setTimeout(onTimeout, milliseconds);
    result.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
