import type { Agent } from '../../../protocol/agent.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { StreamEvent } from '../../../protocol/event.ts';
import type { Part } from '../../../protocol/part.ts';
import { isInterrupted, type Task, type TaskState } from '../../../protocol/task.ts';
import { rawPart } from '../../../protocol/part.ts';
import { parseDataPath, resolveDataPath } from '../../script/templates/data-path.ts';
import type { ExpectationMismatch } from '../expectations/compare-values.ts';
import { hexId } from '../harness/build-message.ts';
import type { CaseTimeline } from '../harness/case-timeline.ts';
import { type ConversationStep, kindOf, type StepFile } from './conversation-schema.ts';
import { stepMismatches } from './expect-step.ts';
import type { ReadConversation } from './read-conversation.ts';
import { StepResult } from './step-result.ts';
import { replaceVariables } from './step-variables.ts';

/** Milliseconds between requests of a step that asks for a task until it has a state. */
const pollingInterval = 200;

/** Runs the steps of a conversation. @returns the mismatches of the first step that failed */
export async function runConversation(
  { conversation, stepLines }: ReadConversation,
  agent: Agent,
  timeline: CaseTimeline,
  signal: AbortSignal,
): Promise<ExpectationMismatch[]> {
  const runner = new ConversationRunner(agent, timeline, signal);
  for (const [index, step] of conversation.steps.entries()) {
    const mismatches = await runner.run(step, `steps[${index}]`);
    if (mismatches.length > 0 || signal.aborted)
      return mismatches.map((each) => ({ ...each, path: `line ${stepLines[index]}: ${each.path}` }));
  }
  return [];
}

/** Executes steps one after the other and remembers tasks and variables. */
class ConversationRunner {
  readonly #agent: Agent;
  readonly #timeline: CaseTimeline;
  readonly #signal: AbortSignal;
  readonly #variables = new Map<string, unknown>();
  #task: Task | undefined = undefined;
  #contextId: string | undefined = undefined;

  constructor(agent: Agent, timeline: CaseTimeline, signal: AbortSignal) {
    this.#agent = agent;
    this.#timeline = timeline;
    this.#signal = signal;
  }

  async run(draft: ConversationStep, path: string): Promise<ExpectationMismatch[]> {
    const { expect: expectation = {}, save, ...action } = draft;
    const step = replaceVariables(action, this.#variables);
    const result = new StepResult();
    try {
      await this.#act(step, result);
    } catch (thrown) {
      result.error = A2AError.from(thrown);
    }
    // The timeout is reported for the whole conversation.
    if (this.#signal.aborted) return [];
    this.#remember(result);
    const mismatches = stepMismatches(
      replaceVariables(expectation, this.#variables),
      result,
      `${path}.expect`,
    );
    if (mismatches.length > 0) return mismatches;
    return this.#save(save ?? {}, result, `${path}.save`);
  }

  #act(step: ConversationStep, result: StepResult): Promise<void> {
    switch (kindOf(step)) {
      case 'say':
        return this.#say(step, result);
      case 'get':
        return this.#get(step, result);
      case 'cancel':
        return this.#cancel(step, result);
      case 'subscribe':
        return this.#read(
          this.#agent.subscribe({ id: this.#taskId(step.subscribe) }, this.#call),
          result,
          step.until,
        );
    }
  }

  async #say(step: ConversationStep, result: StepResult): Promise<void> {
    const { stream = true, immediate } = step;
    const taskId = this.#continuedTask(step);
    const contextId = step.context === 'new' ? undefined : (step.context ?? this.#contextId);
    const request = {
      message: {
        messageId: hexId(),
        role: 'user' as const,
        parts: toParts(step),
        ...(taskId !== undefined && { taskId }),
        ...(contextId !== undefined && { contextId }),
        ...(step.metadata && { metadata: step.metadata }),
      },
      ...(immediate && { configuration: { returnImmediately: true } }),
    };
    if (stream) await this.#read(this.#agent.stream(request, this.#call), result, step.until);
    else result.setResult(await this.#agent.send(request, this.#call));
  }

  async #get({ get, history, until }: ConversationStep, result: StepResult): Promise<void> {
    const request = { id: this.#taskId(get), ...(history !== undefined && { historyLength: history }) };
    for (;;) {
      const task = await this.#agent.getTask(request, this.#call);
      result.setResult(task);
      if (until === undefined || task.status.state === until || this.#signal.aborted) return;
      await this.#timeline.sleep(pollingInterval);
    }
  }

  async #cancel({ cancel }: ConversationStep, result: StepResult): Promise<void> {
    result.setResult(await this.#agent.cancelTask({ id: this.#taskId(cancel) }, this.#call));
  }

  async #read(
    events: AsyncIterable<StreamEvent>,
    result: StepResult,
    until: TaskState | undefined,
  ): Promise<void> {
    for await (const event of events) {
      result.addEvent(event);
      this.#record(event);
      if (until !== undefined && stateOf(event) === until) return;
    }
    if (until !== undefined && result.task?.status.state !== until)
      throw new A2AError('INVALID_AGENT_RESPONSE', `The stream ended before the state ${until}`);
  }

  /** Shows an event in the report of a failed case. */
  #record(event: StreamEvent): void {
    if (event.kind === 'artifact') {
      const { artifact } = event;
      this.#timeline.add({ type: 'artifact_update', artifact, received: artifact.parts });
      return;
    }
    const status =
      event.kind === 'message'
        ? { state: 'completed' as const, message: event.message }
        : event.kind === 'task'
          ? event.task.status
          : event.status;
    this.#timeline.add({ type: 'status_update', status, isFinal: false });
  }

  #remember({ task, message }: StepResult): void {
    if (task) this.#task = task;
    this.#contextId = task?.contextId ?? message?.contextId ?? this.#contextId;
    this.#variables.set('task', this.#task?.id);
    this.#variables.set('context', this.#contextId);
  }

  #save(
    save: NonNullable<ConversationStep['save']>,
    result: StepResult,
    path: string,
  ): ExpectationMismatch[] {
    const scope = result.toScope();
    for (const [name, source] of Object.entries(save)) {
      const from = typeof source === 'string' ? source : (source.from ?? 'text');
      const value = resolveDataPath(scope, parseDataPath(from) ?? []);
      const saved = typeof source === 'string' ? value : findMatch(source.matches, value);
      if (saved === undefined)
        return [
          {
            path: `${path}.${name}`,
            problem: 'the answer has no such value',
            expected: source,
            actual: value,
          },
        ];
      this.#variables.set(name, saved);
    }
    return [];
  }

  #continuedTask({ task }: ConversationStep): string | undefined {
    if (task === 'new') return undefined;
    if (task !== undefined && task !== 'current') return task;
    return this.#task && (task === 'current' || isInterrupted(this.#task.status.state))
      ? this.#task.id
      : undefined;
  }

  #taskId(reference: string | undefined): string {
    if (reference !== 'current') return reference ?? '';
    if (this.#task) return this.#task.id;
    throw new A2AError('INVALID_PARAMS', 'No step before this one has a task');
  }

  get #call(): { signal: AbortSignal } {
    return { signal: this.#signal };
  }
}

function findMatch(source: string, value: unknown): string | undefined {
  const found = typeof value === 'string' ? new RegExp(source).exec(value) : null;
  return found?.[1] ?? found?.[0];
}

function stateOf(event: StreamEvent): TaskState | undefined {
  if (event.kind === 'task') return event.task.status.state;
  return event.kind === 'status' ? event.status.state : undefined;
}

function toParts({ say, data, files = [] }: ConversationStep): Part[] {
  return [
    ...(say === undefined ? [] : [{ text: say }]),
    ...(data === undefined ? [] : [{ data }]),
    ...files.map(toFilePart),
  ];
}

function toFilePart({ name, type, text, base64, url }: StepFile): Part {
  const labels = {
    ...(name !== undefined && { filename: name }),
    ...(type !== undefined && { mediaType: type }),
  };
  if (url !== undefined) return { url, ...labels };
  return text === undefined
    ? { raw: base64 ?? '', ...labels }
    : rawPart(new TextEncoder().encode(text), labels);
}
