import { isFinalStatus } from '../../dialects/v0_3/event.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { isJsonObject } from '../../primitives/json.ts';
import { A2AError, type ErrorReason } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { type Part, textOf } from '../../protocol/part.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { type Artifact, isInterrupted, isTask, isTerminal, type Task } from '../../protocol/task.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { expectedText } from './expected-text.ts';

/** Recorded responses to a message as expected outputs of a scenario. */
export interface RecordedOutcome {
  readonly outputs: readonly object[];
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly milliseconds: number;
}

/** Converts the responses to a message. @returns a reason as text if the message cannot be repeated. */
export function toRecordedOutcome(
  { decoded, at }: TrafficRecord,
  responses: readonly TrafficRecord[],
): RecordedOutcome | string {
  const request = decoded?.model as SendRequest;
  if (request.message.taskId !== undefined) return 'it continues a task, whose id differs in every run';
  if (request.configuration?.returnImmediately) return 'its client did not wait for the result';
  if (responses.some(({ truncatedBy, kind }) => truncatedBy !== undefined && kind !== 'end'))
    return 'a response was truncated';
  const outcome = new OutcomeBuilder(request.message);
  for (const each of responses) outcome.add(each);
  outcome.end();
  if (!outcome.isOver) return 'it did not end during the recording';
  const { outputs, taskId, contextId } = outcome;
  return { outputs, taskId, contextId, milliseconds: (responses.at(-1)?.at ?? at) - at };
}

/** Interprets responses in the same way as the client of a scenario. */
class OutcomeBuilder {
  readonly outputs: object[] = [];
  isOver = false;
  taskId: string | undefined;
  contextId: string | undefined;
  readonly #message: Message;
  #reducer: TaskReducer | undefined;

  constructor(message: Message) {
    this.#message = message;
    this.contextId = message.contextId;
  }

  add({ kind, decoded }: TrafficRecord): void {
    if (this.isOver || kind === 'end' || kind === 'loss' || decoded?.model === undefined) return;
    if (decoded.taskId !== undefined) this.taskId ??= decoded.taskId;
    if (decoded.contextId !== undefined) this.contextId ??= decoded.contextId;
    if (decoded.isError) {
      const { reason, message } = decoded.model as { reason: ErrorReason; message: string };
      const { code } = v0_3.rpcError.write(new A2AError(reason, message));
      this.#finishWith({ type: 'error', error_code: code });
      return;
    }
    const isUpdate = kind === 'frame' || (kind === 'message' && isEvent(decoded.model));
    if (!isUpdate) this.#addResult(decoded.model as Task | Message);
    else for (const event of [decoded.model].flat() as StreamEvent[]) this.#addEvent(event);
  }

  /** A stream may end without a final event while the task is interrupted. */
  end(): void {
    const task = this.isOver ? undefined : this.#reducer?.task();
    if (task && isInterrupted(task.status.state)) this.#finishTask(task, false);
  }

  #addEvent(event: StreamEvent): void {
    if (this.isOver) return;
    if (event.kind === 'message') {
      this.#addResult(event.message);
      return;
    }
    this.#reducer ??= startReducer(event);
    this.#reducer?.apply(event);
    if (event.kind === 'task') {
      if (isTerminal(event.task.status.state)) this.#finishTask(event.task, true);
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
      if (isLast && this.#reducer) this.#finishTask(this.#reducer.task(), false);
    }
  }

  #addResult(result: Task | Message): void {
    if (isTask(result)) {
      const { state } = result.status;
      if (isTerminal(state) || isInterrupted(state)) this.#finishTask(result, true);
      return;
    }
    const content = this.#content(result.parts);
    this.#finishWith({
      type: 'final_response',
      task_state: 'completed',
      ...(content.length > 0 && { content_parts: content }),
    });
  }

  /** @param hasNewArtifacts - whether the artifacts were not part of earlier events. */
  #finishTask({ status, artifacts = [] }: Task, hasNewArtifacts: boolean): void {
    // A scenario compares only the text parts of the final message.
    const content = this.#content((status.message?.parts ?? []).filter((part) => 'text' in part));
    this.#finishWith({
      type: 'final_response',
      task_state: status.state,
      ...(content.length > 0 && { content_parts: content }),
      ...(hasNewArtifacts &&
        artifacts.length > 0 && { expected_task_artifacts: artifacts.map((each) => this.#artifact(each)) }),
    });
  }

  #artifact({ name, parts }: Artifact): object {
    const content = this.#content(parts);
    return { ...(name !== undefined && { name }), ...(content.length > 0 && { content_parts: content }) };
  }

  #finishWith(output: object): void {
    this.outputs.push(output);
    this.isOver = true;
  }

  #content(parts: readonly Part[]): object[] {
    const text = textOf(parts);
    const data = parts.find((part) => 'data' in part)?.data;
    const ids = [this.taskId, this.contextId, this.#message.messageId].filter((id) => id !== undefined);
    return [
      ...(text === '' ? [] : [expectedText(text, ids)]),
      ...(isJsonObject(data) && 'text_exact' in expectedText(JSON.stringify(data), ids)
        ? [{ type: 'data', data_contains: data }]
        : []),
    ];
  }
}

function isEvent(model: unknown): boolean {
  return Array.isArray(model) || (typeof model === 'object' && model !== null && 'kind' in model);
}
