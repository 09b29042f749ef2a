import { isFinalStatus } from '../../dialects/v0_3/event.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { type Part, textOf } from '../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { type Artifact, isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { expectedText } from './expected-text.ts';

/** What came of a message, in the words of a scenario. */
export interface RecordedOutcome {
  readonly outputs: readonly object[];
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly milliseconds: number;
}

/** Says what came of a message. @returns why that cannot be said again, where it cannot. */
export function toRecordedOutcome(
  { decoded: meaning, at }: TrafficRecord,
  answers: readonly TrafficRecord[],
): RecordedOutcome | string {
  const request = meaning?.model as SendRequest;
  if (request.message.taskId !== undefined) return 'it goes on with a task, which will be another one';
  if (request.configuration?.returnImmediately) return 'its caller did not wait for the answer';
  if (answers.some(({ truncatedBy: cut, kind }) => cut !== undefined && kind !== 'end'))
    return 'an answer was too long to be kept';
  const outcome = new Outcome(request.message);
  for (const each of answers) outcome.take(each);
  outcome.end();
  if (!outcome.isOver) return 'it did not end while it was recorded';
  const { outputs, taskId, contextId } = outcome;
  return { outputs, taskId, contextId, milliseconds: (answers.at(-1)?.at ?? at) - at };
}

/** Goes through answers as the caller of a scenario does. */
class Outcome {
  readonly outputs: object[] = [];
  isOver = false;
  taskId: string | undefined;
  contextId: string | undefined;
  readonly #message: Message;
  #fold: TaskReducer | undefined;

  constructor(message: Message) {
    this.#message = message;
    this.contextId = message.contextId;
  }

  take({ kind, decoded: meaning }: TrafficRecord): void {
    if (this.isOver || kind === 'end' || kind === 'loss' || meaning?.model === undefined) return;
    if (meaning.taskId !== undefined) this.taskId ??= meaning.taskId;
    if (meaning.contextId !== undefined) this.contextId ??= meaning.contextId;
    if (meaning.isError) {
      const { reason, message } = meaning.model as { reason: ErrorReason; message: string };
      const { code } = v0_3.rpcError.write(new A2AError(reason, message));
      this.#last({ type: 'error', error_code: code });
      return;
    }
    const isUpdate = kind === 'frame' || (kind === 'message' && isEvent(meaning.model));
    if (!isUpdate) this.#answered(meaning.model as Task | Message);
    else for (const event of [meaning.model].flat() as StreamEvent[]) this.#event(event);
  }

  /** A stream may be over without a last word while the task waits for its caller. */
  end(): void {
    const task = this.isOver ? undefined : this.#fold?.task();
    if (task && isInterrupted(task.status.state)) this.#finish(task, false);
  }

  #event(event: StreamEvent): void {
    if (this.isOver) return;
    if (event.kind === 'message') {
      this.#answered(event.message);
      return;
    }
    this.#fold ??= startReducer(event);
    this.#fold?.apply(event);
    if (event.kind === 'task') {
      if (isTerminal(event.task.status.state)) this.#finish(event.task, true);
    } else if (event.kind === 'artifact') {
      const { name, parts } = event.artifact;
      const content = this.#content(parts);
      this.outputs.push({
        type: 'artifact_update',
        ...(name !== undefined && { expected_artifact_name_contains: name }),
        ...(content.length > 0 && { content_parts: content }),
      });
    } else {
      const isLast = isFinalStatus(event);
      const content = this.#content(event.status.message?.parts ?? []);
      if (isLast || (event.status.message?.parts.length ?? 0) > 0)
        this.outputs.push({
          type: 'status_update',
          ...(isLast && { final_flag: true }),
          ...(content.length > 0 && { content_parts: content }),
        });
      if (isLast && this.#fold) this.#finish(this.#fold.task(), false);
    }
  }

  #answered(answer: Task | Message): void {
    if (isTask(answer)) {
      const { state } = answer.status;
      if (isTerminal(state) || isInterrupted(state)) this.#finish(answer, true);
      return;
    }
    const content = this.#content(answer.parts);
    this.#last({
      type: 'final_response',
      task_state: 'completed',
      ...(content.length > 0 && { content_parts: content }),
    });
  }

  /** @param isNews - whether its artifacts were not told of before. */
  #finish({ status, artifacts = [] }: Task, isNews: boolean): void {
    // Only texts of it are looked at.
    const content = this.#content((status.message?.parts ?? []).filter((part) => 'text' in part));
    this.#last({
      type: 'final_response',
      task_state: status.state,
      ...(content.length > 0 && { content_parts: content }),
      ...(isNews &&
        artifacts.length > 0 && { expected_task_artifacts: artifacts.map((each) => this.#artifact(each)) }),
    });
  }

  #artifact({ name, parts }: Artifact): object {
    const content = this.#content(parts);
    return { ...(name !== undefined && { name }), ...(content.length > 0 && { content_parts: content }) };
  }

  #last(output: object): void {
    this.outputs.push(output);
    this.isOver = true;
  }

  #content(parts: readonly Part[]): object[] {
    const text = textOf(parts);
    const data = parts.find((part) => 'data' in part)?.data;
    const ids = [this.taskId, this.contextId, this.#message.messageId].filter((id) => id !== undefined);
    const isMapping = typeof data === 'object' && data !== null && !Array.isArray(data);
    return [
      ...(text === '' ? [] : [expectedText(text, ids)]),
      ...(isMapping && 'text_exact' in expectedText(JSON.stringify(data), ids)
        ? [{ type: 'data', data_contains: data }]
        : []),
    ];
  }
}

function isEvent(model: unknown): boolean {
  return Array.isArray(model) || (typeof model === 'object' && model !== null && 'kind' in model);
}
