import type { StreamEvent } from '../../protocol/event.ts';
import { StreamShaper } from './stream-shaper.ts';

/** Options of {@link taskStream}. */
export interface TaskStreamOptions {
  readonly hideInitialTask: () => boolean;
  /** Set if the task is known before its first event. */
  readonly taskId?: string;
  /** Calls a function when the task is abandoned, at once if it already is. @returns a function that unsubscribes */
  onAbandoned(taskId: string, notify: () => void): () => void;
  /** Ends the HTTP response without a further event; undefined without HTTP. */
  readonly endResponse: (() => Promise<void>) | undefined;
  /** Resolves when the client disconnects. */
  readonly disconnected: Promise<void> | undefined;
  readonly signal: AbortSignal | undefined;
}

type StreamStep = IteratorResult<StreamEvent> | 'abandoned' | 'disconnected' | 'no-event';

/** Returns the shaped events of a task until it ends or is abandoned. */
export async function* taskStream(
  source: AsyncIterable<StreamEvent>,
  options: TaskStreamOptions,
): AsyncGenerator<StreamEvent, void> {
  const events = source[Symbol.asyncIterator]();
  const shaper = new StreamShaper(options.hideInitialTask);
  let notifyAbandoned = (): void => {};
  const abandoned = new Promise<'abandoned'>((resolve) => {
    notifyAbandoned = () => resolve('abandoned');
  });
  const disconnected = waitForDisconnect(options);
  let unsubscribe =
    options.taskId === undefined ? undefined : options.onAbandoned(options.taskId, notifyAbandoned);
  let isAbandoned = false;
  let next = events.next();
  try {
    for (;;) {
      // Events from before the task was abandoned are still delivered.
      const step: StreamStep = await Promise.race(
        isAbandoned ? [next, disconnected, endOfTurn()] : [next, abandoned, disconnected],
      );
      if (step === 'disconnected') return;
      if (step === 'abandoned') {
        isAbandoned = true;
        continue;
      }
      if (step === 'no-event') {
        await options.endResponse?.();
        return;
      }
      if (step.done) break;
      const visible = shaper.shape(step.value);
      if (visible) yield visible;
      if (shaper.isEnded) break;
      unsubscribe ??= options.onAbandoned(taskIdOf(step.value), notifyAbandoned);
      next = events.next();
    }
    // The server would append a status event; the stream must contain only scripted events.
    if (shaper.suppressFinalStatus) await options.endResponse?.();
  } finally {
    unsubscribe?.();
    // Errors during cleanup of the source do not affect the stream.
    events.return?.().catch(() => {});
    next.catch(() => {});
  }
}

function endOfTurn(): Promise<'no-event'> {
  return new Promise((resolve) => setImmediate(() => resolve('no-event')));
}

function taskIdOf(event: StreamEvent): string {
  if (event.kind === 'task') return event.task.id;
  return event.kind === 'message' ? '' : event.taskId;
}

function waitForDisconnect({ disconnected, signal }: TaskStreamOptions): Promise<'disconnected'> {
  return new Promise((resolve) => {
    void disconnected?.then(() => resolve('disconnected'));
    if (signal?.aborted) resolve('disconnected');
    else signal?.addEventListener('abort', () => resolve('disconnected'), { once: true });
  });
}
