import { isJsonObject } from '../../primitives/json.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { type Part, textOf } from '../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import { isTask, isTerminalOrInterrupted, type Task } from '../../protocol/task.ts';
import type { RecordedAnswer } from '../recording.ts';
import { escapeDataVariables, escapeVariables, expectedText } from './expected-text.ts';

/** The state of a task, or the message, after an answer. */
export interface AnswerEnd {
  readonly task: Task | undefined;
  readonly message: Message | undefined;
  readonly events: readonly StreamEvent[];
  /** True if the answer ended where a repeated one ends: with a result, an error, or a task that waits or has ended. */
  readonly isComplete: boolean;
}

/** Returns what an answer led to. @param before - events from this position of the recording on are left out */
export function endOfAnswer({ result, events, error }: RecordedAnswer, before = Infinity): AnswerEnd {
  if (!events) {
    const sent = result as Task | Message | undefined;
    const task = sent && isTask(sent) ? sent : undefined;
    return { task, message: task ? undefined : (sent as Message), events: [], isComplete: true };
  }
  let reducer: TaskReducer | undefined;
  let message: Message | undefined;
  const seen = events.filter(({ sequence }) => sequence < before).map(({ event }) => event);
  for (const event of seen) {
    if (event.kind === 'message') message = event.message;
    else if (reducer) reducer.apply(event);
    else reducer = startReducer(event);
  }
  const task = reducer?.task();
  const isOver = task !== undefined && isTerminalOrInterrupted(task.status.state);
  return { task, message, events: seen, isComplete: isOver || message !== undefined || error !== undefined };
}

/** Returns the expectation of a repeated answer. @param ids - values that differ in every run */
export function expectedAnswer(
  { task, message, events, isComplete }: AnswerEnd,
  { error }: RecordedAnswer,
  ids: readonly string[],
): object {
  if (error) return { error: error.reason };
  if (message) return content(message.parts, ids, 'message');
  if (!task) return {};
  const { status, artifacts = [] } = task;
  if (!isComplete) return { state: status.state };
  const progress = progressEvents(events, ids);
  return {
    state: status.state,
    ...(status.message && content(status.message.parts, ids, 'message')),
    ...(artifacts.length > 0 && {
      artifacts: artifacts.map(({ name, parts }) => ({
        ...(name !== undefined && { name: escapeVariables(name) }),
        ...content(parts, ids, 'text'),
      })),
    }),
    ...(progress.length > 0 && { events: ['...', ...progress] }),
  };
}

/** Texts of the agent while it works, each with any number of events after it. */
function progressEvents(events: readonly StreamEvent[], ids: readonly string[]): unknown[] {
  return events.flatMap((event, index) => {
    if (event.kind !== 'status' || index === events.length - 1) return [];
    const text = textOf(event.status.message?.parts ?? []);
    return text === '' ? [] : [{ state: event.status.state, text: expectedText(text, ids) }, '...'];
  });
}

function content(parts: readonly Part[], ids: readonly string[], key: 'text' | 'message'): object {
  const text = textOf(parts);
  const data = parts.find((part) => 'data' in part)?.data;
  const isStable = isJsonObject(data) && typeof expectedText(JSON.stringify(data), ids) === 'string';
  return {
    ...(text !== '' && { [key]: expectedText(text, ids) }),
    ...(isStable && { data: escapeDataVariables(data) }),
  };
}
