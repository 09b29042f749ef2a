import type { A2AError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { Message } from '../../../protocol/message.ts';
import { type Part, textOf } from '../../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../../protocol/reduce.ts';
import { isTask, type Task } from '../../../protocol/task.ts';

/** The answer of a step, while it arrives. */
export class StepResult {
  readonly events: StreamEvent[] = [];
  error: A2AError | undefined = undefined;
  #reducer: TaskReducer | undefined = undefined;
  #task: Task | undefined = undefined;
  #message: Message | undefined = undefined;

  addEvent(event: StreamEvent): void {
    this.events.push(event);
    if (event.kind === 'message') this.#message = event.message;
    else if (this.#reducer) this.#reducer.apply(event);
    else this.#reducer = startReducer(event);
  }

  setResult(result: Task | Message): void {
    if (isTask(result)) this.#task = result;
    else this.#message = result;
  }

  get task(): Task | undefined {
    return this.#task ?? this.#reducer?.task();
  }

  /** The direct message, or the message of the status. */
  get message(): Message | undefined {
    return this.#message ?? this.task?.status.message;
  }

  /** The text of the artifacts, or else of the message. */
  get text(): string {
    if (this.task) return textOf(this.task);
    return this.#message ? textOf(this.#message) : '';
  }

  /** The content of the first data part of the artifacts and the message. */
  get data(): unknown {
    return findData([
      ...(this.task?.artifacts ?? []).flatMap(({ parts }) => parts),
      ...(this.message?.parts ?? []),
    ]);
  }

  /** The values that a step can save, by name. */
  toScope(): { readonly [name: string]: unknown } {
    const { task, message, text, data } = this;
    return {
      state: task?.status.state,
      text,
      message: message && textOf(message),
      data,
      taskId: task?.id,
      contextId: task?.contextId ?? message?.contextId,
      artifacts: (task?.artifacts ?? []).map(({ artifactId, name, parts }) => ({
        id: artifactId,
        name,
        text: textOf(parts),
        data: findData(parts),
      })),
      error: this.error?.reason,
      task,
    };
  }
}

/** Returns the content of the first data part. */
export function findData(parts: readonly Part[]): unknown {
  const part = parts.find((each) => 'data' in each);
  return part && 'data' in part ? part.data : undefined;
}
