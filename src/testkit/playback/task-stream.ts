import type { StreamEvent } from '../../protocol/event.ts';
import { StreamShaper } from './stream-shaper.ts';

/** Who follows a task, and what there is to know of it. */
export interface TaskStreamOptions {
  readonly hidesOpening: () => boolean;
  /** The task, where it is known before its first event. */
  readonly taskId?: string;
  /** Calls back when the agent hangs up on the task, at once if it has. @returns what ends that. */
  onLeft(taskId: string, tell: () => void): () => void;
  /** Ends the answer without a word; undefined where there is no connection. */
  readonly hangUp: (() => Promise<void>) | undefined;
  /** Resolves when the reader is gone. */
  readonly gone: Promise<void> | undefined;
  readonly signal: AbortSignal | undefined;
}

type Step = IteratorResult<StreamEvent> | 'left' | 'gone' | 'nothing';

/** The events of a task as they were written, up to the end or until the agent hangs up. */
export async function* taskStream(
  source: AsyncIterable<StreamEvent>,
  by: TaskStreamOptions,
): AsyncGenerator<StreamEvent, void> {
  const events = source[Symbol.asyncIterator]();
  const showing = new StreamShaper(by.hidesOpening);
  let tellLeft = (): void => {};
  const left = new Promise<'left'>((resolve) => {
    tellLeft = () => resolve('left');
  });
  const gone = goneOf(by);
  let forget = by.taskId === undefined ? undefined : by.onLeft(by.taskId, tellLeft);
  let isLeft = false;
  let next = events.next();
  try {
    for (;;) {
      // What was said before the agent hung up is still said.
      const step: Step = await Promise.race(isLeft ? [next, gone, endOfTurn()] : [next, left, gone]);
      if (step === 'gone') return;
      if (step === 'left') {
        isLeft = true;
        continue;
      }
      if (step === 'nothing') {
        await by.hangUp?.();
        return;
      }
      if (step.done) break;
      const shown = showing.show(step.value);
      if (shown) yield shown;
      if (showing.isOver) break;
      forget ??= by.onLeft(taskIdOf(step.value), tellLeft);
      next = events.next();
    }
    // The face would add a status of its own; nothing is sent but what was written.
    if (showing.endsUnsaid) await by.hangUp?.();
  } finally {
    forget?.();
    // How whoever tells the story tidies up is its own affair.
    events.return?.().catch(() => {});
    next.catch(() => {});
  }
}

function endOfTurn(): Promise<'nothing'> {
  return new Promise((resolve) => setImmediate(() => resolve('nothing')));
}

function taskIdOf(event: StreamEvent): string {
  if (event.kind === 'task') return event.task.id;
  return event.kind === 'message' ? '' : event.taskId;
}

function goneOf({ gone, signal }: TaskStreamOptions): Promise<'gone'> {
  return new Promise((resolve) => {
    void gone?.then(() => resolve('gone'));
    if (signal?.aborted) resolve('gone');
    else signal?.addEventListener('abort', () => resolve('gone'), { once: true });
  });
}
