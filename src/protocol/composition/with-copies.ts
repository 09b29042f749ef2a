import { copiedStream } from '../../primitives/copies/copied-stream.ts';
import { copyJson, freezeJson } from '../../primitives/json.ts';
import { type Agent, isStreamingOperation } from '../agent.ts';
import type { StreamEvent } from '../event.ts';
import { withInterceptor } from './with-interceptor.ts';

/** Middleware that copies requests and results, so that a caller cannot change what the agent remembers of a task. */
export function withCopies<A extends Agent>(agent: A): A {
  return withInterceptor(agent, {
    card: async (request, call, next) => freezeJson(copyJson(await next(request, call))),
    '*'(operation, request, call, next) {
      const result = next(copyJson(request), call);
      return isStreamingOperation(operation)
        ? copiedStream(result as AsyncIterable<StreamEvent>)
        : Promise.resolve(result).then(copyJson);
    },
  });
}
