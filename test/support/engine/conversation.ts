import type { IntervalClock } from '../../../src/engine/interval-clock.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { Message } from '../../../src/protocol/message.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { isTask, type Task } from '../../../src/protocol/task.ts';

export { collectStream as all } from '../collect-stream.ts';

let count = 0;

/** A message of a caller, with an id of its own unless one is given. */
export function userRequest(
  text: string,
  message: Partial<Message> = {},
  rest: Omit<SendRequest, 'message'> = {},
): SendRequest {
  return { message: { messageId: `m-${++count}`, role: 'user', parts: [{ text }], ...message }, ...rest };
}

/** The task that an answer is. */
export function expectTask(answer: Task | Message): Task {
  if (!isTask(answer)) throw new Error(`expected a task, got the message ${textOf(answer.parts)}`);
  return answer;
}

/** The id of the only task that an agent has. */
export async function onlyTaskOf(agent: Agent): Promise<string> {
  const { tasks } = await agent.listTasks({});
  const [task, ...others] = tasks;
  if (!task || others.length > 0) throw new Error(`expected one task, found ${tasks.length}`);
  return task.id;
}

/** All text of a task's artifacts, one string for each. */
export function artifactTexts(task: Task): string[] {
  return (task.artifacts ?? []).map(({ parts }) => textOf(parts));
}

/** What the agent said with the newest status. */
export function statusTextOf(task: Task): string {
  return textOf(task.status.message?.parts ?? []);
}

/** The states that a stream goes through. */
export function statesOf(events: readonly StreamEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'task') return [event.task.status.state];
    return event.kind === 'status' ? [event.status.state] : [];
  });
}

/** The name of what a promise rejects with; fails when it does not. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return (error as { reason?: unknown }).reason ?? error;
  }
  throw new Error('it was expected to be refused');
}

/** Something that opens once. */
export interface Deferred {
  opened: Promise<void>;
  open: () => void;
}

export function createDeferred(): Deferred {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A clock that stands still until it is told to go on; what repeats happens once for each step. */
export class SteppedClock implements IntervalClock {
  #now = Date.UTC(2026, 5, 1);
  readonly #ticks = new Set<() => void>();

  now(): number {
    return this.#now;
  }

  every(_milliseconds: number, tick: () => void): () => void {
    this.#ticks.add(tick);
    return () => this.#ticks.delete(tick);
  }

  /** Lets time pass. */
  step(milliseconds: number): void {
    this.#now += milliseconds;
    for (const tick of this.#ticks) tick();
  }

  get isWatched(): boolean {
    return this.#ticks.size > 0;
  }
}
