import { compatKey, type Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isInterrupted, type TaskState } from '../../protocol/task.ts';
import type { RecordedAnswer } from '../recording.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { type AnswerEnd, endOfAnswer, expectedAnswer } from './expected-answer.ts';
import { escapeDataVariables, escapeVariables } from './expected-text.ts';

/** A request of a client, with its interpreted answer. */
export interface RecordedCall {
  readonly request: TrafficRecord;
  readonly answer: RecordedAnswer;
}

/** A step of a scenario. */
type Step = { [key: string]: unknown };

/** A task of a conversation. */
interface KnownTask {
  readonly id: string;
  /** The step that started the task, which can save its id. */
  readonly step: Step;
  state: TaskState | undefined;
}

/** Writes the calls of one conversation as steps of a scenario. */
export class ConversationSteps {
  readonly steps: Step[] = [];
  readonly #calls: readonly RecordedCall[];
  readonly #tasks = new Map<string, KnownTask>();
  #current: KnownTask | undefined = undefined;
  #saved = 0;

  /** @param calls - all calls of the conversation, in the order of their requests. */
  constructor(calls: readonly RecordedCall[]) {
    this.#calls = calls;
  }

  /** Adds a step. @returns a reason as text if the call cannot be repeated. */
  add(call: RecordedCall): string | undefined {
    const { operation, model } = call.request.decoded ?? {};
    if (operation === 'send' || operation === 'stream') return this.#say(call, model as SendRequest);
    const { id } = model as { id: string };
    const task = this.#tasks.get(id);
    if (!task) return 'its task is older than the recording';
    const reference = this.#reference(task);
    if (operation === 'getTask') this.#get(call, reference);
    else this.#finish({ [operation === 'cancelTask' ? 'cancel' : 'subscribe']: reference }, call, task);
    return undefined;
  }

  #say(call: RecordedCall, { message, configuration, clientTaskId }: SendRequest): string | undefined {
    const continued = this.#tasks.get(message.taskId ?? clientTaskId ?? '');
    if (message.taskId !== undefined && !continued) return 'its task is older than the recording';
    const parts = toStepContent(message.parts);
    if (typeof parts === 'string') return parts;
    const { [compatKey]: _compat, ...metadata } = message.metadata ?? {};
    const isStream = call.request.decoded?.operation === 'stream';
    const step: Step = {
      ...parts,
      ...(Object.keys(metadata).length > 0 && { metadata: escapeDataVariables(metadata) }),
      ...this.#continuation(continued),
      ...(!isStream && { stream: false }),
      ...(!isStream && configuration?.returnImmediately && { immediate: true }),
    };
    this.#finish(step, call, continued);
    return undefined;
  }

  /** Repeated requests for a task become one that waits for the last recorded state. */
  #get(call: RecordedCall, reference: string): void {
    const last = this.steps.at(-1);
    if (last && last.get === reference) this.steps.pop();
    const end = endOfAnswer(call.answer);
    const state = end.task?.status.state;
    const step: Step = { get: reference, ...(state !== undefined && { until: state }) };
    this.steps.push({ ...step, expect: expectedAnswer(end, call.answer, this.#idsOf(end, call)) });
  }

  #finish(step: Step, call: RecordedCall, known: KnownTask | undefined): void {
    const end = endOfAnswer(call.answer, this.#nextRequest(call, known));
    const { task } = end;
    if (call.answer.events && !end.isComplete && task) step.until = task.status.state;
    step.expect = expectedAnswer(end, call.answer, this.#idsOf(end, call));
    this.steps.push(step);
    if (!task) return;
    let current = this.#tasks.get(task.id);
    if (!current) this.#tasks.set(task.id, (current = { id: task.id, step, state: undefined }));
    current.state = task.status.state;
    this.#current = current;
  }

  /**
   * Returns the position of the next request that changes the task of a call, which may still be streaming. Times do not tell the
   * order of records within a millisecond.
   */
  #nextRequest({ request, answer }: RecordedCall, known: KnownTask | undefined): number {
    const id = known?.id ?? endOfAnswer(answer).task?.id;
    const next = this.#calls.find(
      (each) =>
        each.request.sequence > request.sequence &&
        each.request.decoded?.taskId === id &&
        each.request.decoded?.operation !== 'getTask' &&
        each.request.decoded?.operation !== 'subscribe',
    );
    return id === undefined ? Infinity : (next?.request.sequence ?? Infinity);
  }

  #continuation(continued: KnownTask | undefined): Step {
    const isWaiting = this.#current?.state !== undefined && isInterrupted(this.#current.state);
    if (!continued) return isWaiting ? { task: 'new' } : {};
    if (continued === this.#current) return isWaiting ? {} : { task: 'current' };
    return { task: this.#reference(continued) };
  }

  #reference(task: KnownTask): string {
    if (task === this.#current) return 'current';
    const name = (task.step.save as { [name: string]: string } | undefined) ?? {
      [`task${++this.#saved}`]: 'taskId',
    };
    task.step.save = name;
    return `\${${Object.keys(name)[0]}}`;
  }

  #idsOf({ task, message }: AnswerEnd, { request }: RecordedCall): string[] {
    const sent = (request.decoded?.model as Partial<SendRequest> | undefined)?.message;
    return [task?.id, task?.contextId, message?.contextId, sent?.messageId, sent?.contextId].filter(
      (id) => id !== undefined,
    );
  }
}

/** Returns the content of a message. @returns a reason as text if a step cannot have it. */
function toStepContent(parts: readonly Part[]): Step | string {
  const texts = parts.filter((part) => 'text' in part);
  const data = parts.filter((part) => 'data' in part);
  if (data.length > 1) return 'its message has several data parts';
  const files = parts.filter((part) => 'raw' in part || 'url' in part);
  return {
    ...(texts.length > 0 && { say: escapeVariables(texts.map(({ text }) => text).join('\n')) }),
    ...(data[0] && { data: escapeDataVariables(data[0].data) }),
    ...(files.length > 0 && { files: files.map(toStepFile) }),
  };
}

function toStepFile(part: Part): Step {
  const { filename: name, mediaType: type } = part;
  const content = 'url' in part ? { url: part.url } : { base64: 'raw' in part ? part.raw : '' };
  return { ...(name !== undefined && { name }), ...(type !== undefined && { type }), ...content };
}
