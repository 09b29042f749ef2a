import type { StreamEvent } from '../../protocol/event.ts';
import { compatKey, type Metadata } from '../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';

/** How something that a player gave to the engine looks on a stream, where that is not as the engine tells it. */
export interface EventAppearance {
  /** Nobody sees it. */
  readonly isHidden?: boolean;
  /** The task as it then stands is shown instead. */
  readonly isTask?: boolean;
  /** The stream ends after it although the task does not. */
  readonly isEnd?: boolean;
  /** A state that the engine does not take while an agent works. */
  readonly state?: TaskState;
}

/** By the metadata of the event, which the engine hands on as it is. */
const looks = new WeakMap<Metadata, EventAppearance>();

/** Metadata of its own for one event, by which the event is known again. */
export function withAppearance(metadata: Metadata | undefined, look: EventAppearance = {}): Metadata {
  const own = { ...metadata };
  looks.set(own, look);
  return own;
}

/**
 * Shows the events of one stream as they were written: the engine's own words at the beginning of a turn are left out,
 * and a task that was written is a task on the wire.
 */
export class StreamShaper {
  readonly #hidesOpening: () => boolean;
  #fold: TaskReducer | undefined = undefined;
  /** True when the stream ends here. */
  isOver = false;
  /** True when nothing is to be said after what was shown last. */
  endsUnsaid = false;

  /**
   * @param hidesOpening - whether the task that the stream begins with is left out, because another is about to come.
   */
  constructor(hidesOpening: () => boolean) {
    this.#hidesOpening = hidesOpening;
  }

  /** @returns undefined for what nobody is to see. */
  show(event: StreamEvent): StreamEvent | undefined {
    const isFirst = this.#fold === undefined;
    this.#fold ??= startReducer(event);
    if (event.kind === 'message') return event;
    if (event.kind === 'task') {
      if (!isFirst) this.#fold?.apply(event);
      return isFirst && this.#hidesOpening() ? undefined : event;
    }
    this.#fold?.apply(event);
    const look = event.metadata && looks.get(event.metadata);
    if (look?.isHidden || (event.kind === 'status' && isOfEngine(event))) return undefined;
    this.isOver = look?.isEnd ?? false;
    this.endsUnsaid = this.isOver || (look?.isTask ?? false);
    if (look?.isTask && this.#fold) {
      return { kind: 'task', task: inState(this.#fold.task(), look.state), sequence: event.sequence };
    }
    const { metadata, ...bare } = event;
    const shown = metadata && Object.keys(metadata).length > 0 ? event : bare;
    if (shown.kind !== 'status' || look?.state === undefined) return shown;
    return { ...shown, status: { ...shown.status, state: look.state } };
  }
}

function inState(task: Task, state: TaskState | undefined): Task {
  return state === undefined ? task : { ...task, status: { ...task.status, state } };
}

/** The engine says that the work begins; whatever is played has metadata, if only empty ones. */
function isOfEngine({ status, metadata }: Extract<StreamEvent, { kind: 'status' }>): boolean {
  return status.state === 'working' && status.message === undefined && metadata === undefined;
}

/** Metadata that say: the stream ends here although the task does not. */
export function withFinalMark(metadata: Metadata | undefined): Metadata {
  return { ...metadata, [compatKey]: { final: true } };
}
