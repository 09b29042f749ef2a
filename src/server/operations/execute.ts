import { A2AError } from '../../protocol/errors.ts';
import type { Task } from '../../protocol/task.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Exchange, Reply } from '../http/http-message.ts';
import type { Face } from '../http/server-context.ts';
import { checkSize } from '../limits/limits.ts';
import { answer, type Asked, open, type Opened } from './invoke-agent.ts';
import type { SseStream } from '../http/sse-stream.ts';

/** Does an operation that answers once, within the limits and in view of whoever watches. */
export function perform(
  face: Face,
  exchange: Exchange,
  asked: Asked,
  inOrigin?: (task: Task) => Dialect,
): Promise<string> {
  const { visit } = exchange;
  visit?.about(asked, exchange);
  checkSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.guard.enter(exchange);
  const { answerTimeout = 0 } = face.limits;
  try {
    const answering = visit ? visit.traced(asked, () => answer(asked, inOrigin)) : answer(asked, inOrigin);
    const inLimits = answerTimeout > 0 ? inTime(answering, answerTimeout) : answering;
    return visitor ? inLimits.finally(() => face.guard.leave(visitor)) : inLimits;
  } catch (error) {
    if (visitor) face.guard.leave(visitor);
    throw error;
  }
}

/** Opens a stream, within the limits and in view of whoever watches. */
export function performStream(
  face: Face,
  exchange: Exchange,
  asked: Asked,
  toStream: (opened: Opened) => SseStream | Promise<SseStream>,
): Promise<Reply> | Reply {
  const { visit } = exchange;
  visit?.about(asked, exchange);
  checkSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.guard.admit(exchange);
  const fail = (error: unknown): never => {
    face.guard.release(visitor);
    throw error;
  };
  const begin = (opened: Opened): Promise<Reply> | Reply => {
    visit?.begins(opened.first);
    const stream = toStream(opened);
    return stream instanceof Promise
      ? stream.then((each) => face.streamReply(each, exchange, visitor))
      : face.streamReply(stream, exchange, visitor);
  };
  try {
    const opened = visit ? visit.traced(asked, async () => open(asked)) : open(asked);
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
