import type { Dialect, EventWriter } from '../../dialects/dialect.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

/**
 * Number of cached events. Few are enough: the subscribers of an event are woken one after the other and need the same
 * text.
 */
const slotCount = 16;

/** Caches the JSON of events and tasks in one dialect, so that it is serialized once for all clients. */
export class SerializationCache {
  readonly #dialect: Dialect;
  readonly #writer: EventWriter;
  readonly #events: (object | undefined)[] = new Array<object | undefined>(slotCount).fill(undefined);
  readonly #eventTexts: string[] = new Array<string>(slotCount).fill('');
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
    const { texts } = this.#dialect;
    const text = texts ? texts.event(event) : JSON.stringify(this.#writer.write(event)[0]);
    this.#events[slot] = key;
    this.#eventTexts[slot] = text;
    return text;
  }

  /** Returns the JSON of a task. Polling clients get the same task object until it changes. */
  serializeTask(task: Task): string {
    let text = this.#tasks.get(task);
    if (text === undefined) {
      const { texts, results } = this.#dialect;
      text = texts ? texts.task(task) : JSON.stringify(results.getTask.write(task));
      this.#tasks.set(task, text);
    }
    return text;
  }
}
