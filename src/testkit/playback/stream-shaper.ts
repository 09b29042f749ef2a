import type { StreamEvent } from '../../protocol/event.ts';
import { compatKey, type Metadata } from '../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { Task, TaskState } from '../../protocol/task.ts';

/** How an event of the engine appears in the stream. */
export interface EventAppearance {
  /** The event is removed. */
  readonly isHidden?: boolean;
  /** The event is replaced by a snapshot of the task. */
  readonly isTask?: boolean;
  /** The stream ends after the event although the task does not. */
  readonly endsStream?: boolean;
  /** Replaces the state; for states that the engine does not accept from a process function. */
  readonly state?: TaskState;
}

/** Key of the appearance in the metadata of an event. Copies preserve a symbol; JSON does not contain it. */
const appearanceKey = Symbol('appearance');

type ShapedMetadata = Metadata & { [appearanceKey]?: EventAppearance };

/** Copies the metadata of an event and attaches an appearance to the copy. */
export function withAppearance(metadata: Metadata | undefined, appearance: EventAppearance = {}): Metadata {
  const copy: ShapedMetadata = { ...metadata };
  copy[appearanceKey] = appearance;
  return copy;
}

/**
 * Shapes the event stream of a scripted turn: removes the initial events of the engine and replaces status events with
 * scripted task snapshots.
 */
export class StreamShaper {
  readonly #hideInitialTask: () => boolean;
  #reducer: TaskReducer | undefined = undefined;
  isEnded = false;
  /** True if the server must not append a final status to the stream. */
  suppressFinalStatus = false;

  /** @param hideInitialTask - whether the initial task event is removed. */
  constructor(hideInitialTask: () => boolean) {
    this.#hideInitialTask = hideInitialTask;
  }

  /** @returns undefined if the event is removed. */
  shape(event: StreamEvent): StreamEvent | undefined {
    const isFirst = this.#reducer === undefined;
    this.#reducer ??= startReducer(event);
    if (event.kind === 'message') return event;
    if (event.kind === 'task') {
      if (!isFirst) this.#reducer?.apply(event);
      return isFirst && this.#hideInitialTask() ? undefined : event;
    }
    this.#reducer?.apply(event);
    const metadata: ShapedMetadata | undefined = event.metadata;
    const appearance = metadata?.[appearanceKey];
    if (appearance?.isHidden || (event.kind === 'status' && isEngineStatus(event))) return undefined;
    this.isEnded = appearance?.endsStream ?? false;
    this.suppressFinalStatus = this.isEnded || (appearance?.isTask ?? false);
    if (appearance?.isTask && this.#reducer) {
      return {
        kind: 'task',
        task: withState(this.#reducer.task(), appearance.state),
        sequence: event.sequence,
      };
    }
    const { metadata: _metadata, ...bare } = event;
    const visible = metadata && Object.keys(metadata).length > 0 ? event : bare;
    if (visible.kind !== 'status' || appearance?.state === undefined) return visible;
    return { ...visible, status: { ...visible.status, state: appearance.state } };
  }
}

function withState(task: Task, state: TaskState | undefined): Task {
  return state === undefined ? task : { ...task, status: { ...task.status, state } };
}

/** Returns true for the working status of the engine. Scripted events always have a metadata object. */
function isEngineStatus({ status, metadata }: Extract<StreamEvent, { kind: 'status' }>): boolean {
  return status.state === 'working' && status.message === undefined && metadata === undefined;
}

/** Adds `final: true` for versions before 1.0: the stream ends although the task does not. */
export function withFinalMark(metadata: Metadata | undefined): Metadata {
  return { ...metadata, [compatKey]: { final: true } };
}
