import type { Dialect, EventWriter } from '../../dialects/dialect.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Task } from '../../protocol/task.ts';

/**
 * Few slots are enough: the readers of one event are woken one after the other, so what one of them wrote is what
 * the next one wants.
 */
const slots = 16;

/** The text of things in one dialect, so that what many want to read is written once. */
export class SerializationCache {
  readonly #dialect: Dialect;
  readonly #writer: EventWriter;
  readonly #events: (object | undefined)[] = new Array<object | undefined>(slots).fill(undefined);
  readonly #eventTexts: string[] = new Array<string>(slots).fill('');
  readonly #tasks = new WeakMap<Task, string>();

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
    this.#writer = dialect.eventWriter();
  }

  /** The text of an event that reads the same for everybody: such dialects have one form for each. */
  ofEvent(event: StreamEvent): string {
    // Every reader that begins with a task gets an event of its own around the same task.
    const key = event.kind === 'task' ? event.task : event;
    const slot = (event.sequence ?? 0) % slots;
    if (this.#events[slot] === key) return this.#eventTexts[slot] ?? '';
    const { texts } = this.#dialect;
    const text = texts ? texts.event(event) : JSON.stringify(this.#writer.write(event)[0]);
    this.#events[slot] = key;
    this.#eventTexts[slot] = text;
    return text;
  }

  /** The text of a task that is asked for by name. Callers that poll get the same object until it changes. */
  ofTask(task: Task): string {
    let text = this.#tasks.get(task);
    if (text === undefined) {
      const { texts, results } = this.#dialect;
      text = texts ? texts.task(task) : JSON.stringify(results.getTask.write(task));
      this.#tasks.set(task, text);
    }
    return text;
  }
}
