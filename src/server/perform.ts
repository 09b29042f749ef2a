import { A2AError } from '../protocol/errors.ts';
import type { Task } from '../protocol/task.ts';
import type { Dialect } from '../dialects/dialect.ts';
import type { Exchange, Reply } from './exchange.ts';
import type { Face } from './face.ts';
import { checkSize } from './limits.ts';
import { answer, type Asked, open, type Opened } from './operate.ts';
import type { SseStream } from './sse.ts';

/** Does an operation that answers once, within the limits and in view of whoever watches. */
export async function perform(
  face: Face,
  exchange: Exchange,
  asked: Asked,
  inOrigin?: (task: Task) => Dialect,
): Promise<string> {
  const { visit } = exchange;
  visit?.about(asked, exchange);
  checkSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.guard.enter(exchange);
  try {
    const answering = visit ? visit.traced(asked, () => answer(asked, inOrigin)) : answer(asked, inOrigin);
    const { answerTimeout = 0 } = face.limits;
    return await (answerTimeout > 0 ? inTime(answering, answerTimeout) : answering);
  } finally {
    if (visitor) face.guard.leave(visitor);
  }
}

/** Opens a stream, within the limits and in view of whoever watches. */
export async function performStream(
  face: Face,
  exchange: Exchange,
  asked: Asked,
  toStream: (opened: Opened) => SseStream | Promise<SseStream>,
): Promise<Reply> {
  const { visit } = exchange;
  visit?.about(asked, exchange);
  checkSize(asked.request, face.limits, exchange.body.length);
  const visitor = face.guard.admit(exchange);
  try {
    const opened = await (visit ? visit.traced(asked, () => open(asked)) : open(asked));
    visit?.begins(opened.first);
    return face.streamReply(await toStream(opened), exchange, visitor);
  } catch (error) {
    face.guard.release(visitor);
    throw error;
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
