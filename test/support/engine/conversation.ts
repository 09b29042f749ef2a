import type { Clock } from '../../../src/primitives/clock.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';

export { collectStream } from '../collect-stream.ts';

/** Builds a send request with a text message and a unique message id. */
export function userRequest(
  text: string,
  message: Partial<Message> = {},
  rest: Omit<SendRequest, 'message'> = {},
): SendRequest {
  return {
    message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }], ...message },
    ...rest,
  };
}

/** Returns the result of a send as a task. Throws if it is a message. */
export function expectTask(result: Task | Message): Task {
  if (!isTask(result)) throw new Error(`expected a task, got the message ${textOf(result.parts)}`);
  return result;
}

/** Returns the id of the only task of an agent. Throws if there is not exactly one. */
export async function onlyTaskOf(agent: Agent): Promise<string> {
  const { tasks } = await agent.listTasks({});
  const [task, ...others] = tasks;
  if (!task || others.length > 0) throw new Error(`expected one task, found ${tasks.length}`);
  return task.id;
}

/** Returns the text of each artifact of a task. */
export function artifactTexts(task: Task): string[] {
  return (task.artifacts ?? []).map(({ parts }) => textOf(parts));
}

/** Returns the text of the status message of a task. */
export function statusTextOf(task: Task): string {
  return textOf(task.status.message?.parts ?? []);
}

/** Returns the task states in a stream of events. */
export function statesOf(events: readonly StreamEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'task') return [event.task.status.state];
    return event.kind === 'status' ? [event.status.state] : [];
  });
}

/** Returns the `reason` of the error that a promise rejects with. Throws if it resolves. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return (error as { reason?: unknown }).reason ?? error;
  }
  throw new Error('expected a rejection');
}

/** A promise with its resolve function. */
export interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
}

export function createDeferred(): Deferred {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** A clock that stands still until `step()` is called; intervals fire once per step. */
export class SteppedClock implements Pick<Clock, 'now' | 'monotonic' | 'every'> {
  #now = Date.UTC(2026, 5, 1);
  /** Milliseconds by which the wall clock was set forward. */
  offset = 0;
  readonly #intervals = new Set<() => void>();

  now(): number {
    return this.#now + this.offset;
  }

  monotonic(): number {
    return this.#now;
  }

  every(_milliseconds: number, tick: () => void): () => void {
    this.#intervals.add(tick);
    return () => this.#intervals.delete(tick);
  }

  /** Advances the time and fires all intervals once. */
  step(milliseconds: number): void {
    this.#now += milliseconds;
    for (const tick of this.#intervals) tick();
  }

  get hasTimers(): boolean {
    return this.#intervals.size > 0;
  }
}
