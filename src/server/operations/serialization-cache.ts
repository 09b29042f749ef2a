import {
  type Dialect,
  type EventWriter,
  serializeResult,
  serializeWireEvent,
} from '../../dialects/dialect.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

/**
 * Number of cached events. Few are enough: the subscribers of an event are woken one after the other and need the same
 * text.
 */
const slotCount = 16;

/** Longer texts, in characters, use one common slot, so that the cache never retains more than one of them. */
const maxSlotLength = 64 * 1_024;

/** Caches the JSON of events and tasks in one dialect, so that it is serialized once for all clients. */
export class SerializationCache {
  readonly #dialect: Dialect;
  readonly #writer: EventWriter;
  readonly #events: (object | undefined)[] = new Array<object | undefined>(slotCount + 1).fill(undefined);
  readonly #eventTexts: string[] = new Array<string>(slotCount + 1).fill('');
  readonly #tasks = new WeakMap<Task, string>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#writer = dialect.eventWriter();
  }

  /** Returns the JSON of an event. Only for dialects with the same single frame for all clients. */
  serializeEvent(event: StreamEvent): string {
    // Snapshot events are created per subscriber, but contain the same task object.
    const key = event.kind === 'task' ? event.task : event;
    const slot = (event.sequence ?? 0) % slotCount;
    if (this.#events[slot] === key) return this.#eventTexts[slot] ?? '';
    if (this.#events[slotCount] === key) return this.#eventTexts[slotCount] ?? '';
    const { texts } = this.#dialect;
    const text = texts ? texts.event(event) : serializeWireEvent(this.#dialect, this.#writer.write(event)[0]);
    const used = text.length > maxSlotLength ? slotCount : slot;
    this.#events[used] = key;
    this.#eventTexts[used] = text;
    return text;
  }

  /** Returns the text of the wire object of an event, without caching it. */
  serializeWire(wire: unknown): string {
    return serializeWireEvent(this.#dialect, wire);
  }

  /** Returns the JSON of a task. Polling clients get the same task object until it changes. */
  serializeTask(task: Task): string {
    let text = this.#tasks.get(task);
    if (text === undefined) {
      const { texts, results } = this.#dialect;
      text = texts
        ? texts.task(task)
        : serializeResult(this.#dialect, 'getTask', results.getTask.write(task));
      // The text lives as long as the task, which the size limits of a task store do not take into account.
      if (text.length <= maxSlotLength) this.#tasks.set(task, text);
    }
    return text;
  }
}
