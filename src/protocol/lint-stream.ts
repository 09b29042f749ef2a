import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import { isInterrupted, isTerminal, type Task, type TaskState, type TaskStatus } from './task.ts';

/** The name of a rule that a stream can break. */
export type LintRule =
  | 'first-event'
  | 'message-alone'
  | 'after-terminal'
  | 'wrong-task-id'
  | 'wrong-context-id'
  | 'append-without-start'
  | 'chunk-after-last'
  | 'replaced-artifact-while-open'
  | 'state-backwards'
  | 'unknown-state'
  | 'task-again'
  | 'sequence-not-increasing'
  | 'empty-parts'
  | 'bad-timestamp'
  | 'time-backwards'
  | 'unfinished'
  | 'no-events';

/** One thing that is wrong with a stream. */
export interface LintFinding {
  rule: LintRule;
  /** A `warning` is legal but seldom meant. */
  level: 'error' | 'warning';
  /** Which event, counted from 0; for the end of the stream, how many events there were. */
  index: number;
  message: string;
}

const warnings: ReadonlySet<LintRule> = new Set<LintRule>([
  'replaced-artifact-while-open',
  'unknown-state',
  'task-again',
  'time-backwards',
]);

const timestampFormat = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Checks the events of one stream as they come: is this a legal story of one task? */
export class StreamLinter {
  #index = 0;
  #findings: LintFinding[] = [];
  #direct = false;
  #ids: { taskId: string; contextId: string } | undefined;
  #state: TaskState | undefined;
  #time = Number.NEGATIVE_INFINITY;
  #sequence = Number.NEGATIVE_INFINITY;
  /** Whether more may come of an artifact; a snapshot of the task does not tell. */
  #chunks = new Map<string, 'open' | 'closed' | 'untold'>();

  /** Gives what is wrong with the next event. */
  check(event: StreamEvent): LintFinding[] {
    this.#findings = [];
    this.#checkPlace(event);
    this.#checkSequence(event);
    switch (event.kind) {
      case 'task':
        this.#checkTask(event.task);
        break;
      case 'message':
        this.#checkParts(event.message.parts, 'the message');
        break;
      case 'status':
        this.#checkIds(event);
        this.#checkStatus(event.status);
        break;
      case 'artifact':
        this.#checkIds(event);
        this.#checkArtifact(event);
        break;
    }
    this.#index++;
    return this.#findings;
  }

  /** Gives what is wrong with the stream as a whole, now that nothing follows. */
  end(): LintFinding[] {
    this.#findings = [];
    if (this.#index === 0) this.#find('no-events', 'the stream ended before it began');
    else if (!this.#direct && !isResting(this.#state)) {
      this.#find('unfinished', `the stream ended while the task was ${this.#state ?? 'in no known state'}`);
    }
    return this.#findings;
  }

  #find(rule: LintRule, message: string): void {
    const level = warnings.has(rule) ? 'warning' : 'error';
    this.#findings.push({ rule, level, index: this.#index, message });
  }

  #checkPlace(event: StreamEvent): void {
    if (this.#index === 0) {
      if (event.kind === 'message') this.#direct = true;
      else if (event.kind !== 'task') {
        this.#find('first-event', `a stream begins with a task or a message, not with ${event.kind}`);
      }
      return;
    }
    if (this.#direct || event.kind === 'message') {
      this.#find('message-alone', 'a direct message is the only event of its stream');
    }
    if (this.#state !== undefined && isTerminal(this.#state)) {
      this.#find('after-terminal', `the task was ${this.#state}; nothing can follow`);
    }
  }

  #checkSequence({ sequence }: StreamEvent): void {
    if (sequence === undefined) return;
    if (sequence <= this.#sequence) {
      this.#find('sequence-not-increasing', `${sequence} follows ${this.#sequence}`);
    }
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  #checkIds({ taskId, contextId }: { taskId: string; contextId: string }): void {
    if (!this.#ids) {
      this.#ids = { taskId, contextId };
      return;
    }
    if (taskId !== this.#ids.taskId) {
      this.#find('wrong-task-id', `the stream is of task ${this.#ids.taskId}, not ${taskId}`);
    }
    if (contextId !== this.#ids.contextId) {
      this.#find('wrong-context-id', `the stream is of context ${this.#ids.contextId}, not ${contextId}`);
    }
  }

  #checkTask(task: Task): void {
    if (this.#index > 0) this.#find('task-again', 'the whole task was told before');
    this.#checkIds({ taskId: task.id, contextId: task.contextId });
    this.#checkStatus(task.status);
    for (const { artifactId, parts } of task.artifacts ?? []) {
      this.#checkParts(parts, `artifact ${artifactId}`);
      if (!this.#chunks.has(artifactId)) this.#chunks.set(artifactId, 'untold');
    }
    for (const message of task.history ?? []) this.#checkParts(message.parts, `message ${message.messageId}`);
  }

  #checkStatus({ state, message, timestamp }: TaskStatusUpdateEvent['status']): void {
    if (state === 'unknown') this.#find('unknown-state', 'the state is one that nobody knows');
    const hasBegun = this.#state !== undefined && this.#state !== 'submitted' && this.#state !== 'unknown';
    if (state === 'submitted' && hasBegun) {
      this.#find('state-backwards', `a task that was ${this.#state} cannot be submitted again`);
    }
    this.#state = state;
    if (message) this.#checkParts(message.parts, 'the message of the status');
    this.#checkTime(timestamp);
  }

  #checkTime(timestamp: TaskStatus['timestamp']): void {
    if (timestamp === undefined) return;
    const time = timestampFormat.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
    if (Number.isNaN(time)) {
      this.#find('bad-timestamp', `${timestamp} is not a time such as 2026-06-01T10:00:00.000Z`);
      return;
    }
    if (time < this.#time) this.#find('time-backwards', `${timestamp} is earlier than the status before`);
    this.#time = Math.max(this.#time, time);
  }

  #checkArtifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): void {
    const { artifactId } = artifact;
    const before = this.#chunks.get(artifactId);
    this.#checkParts(artifact.parts, `artifact ${artifactId}`);
    if (append && before === undefined) {
      this.#find('append-without-start', `there is no artifact ${artifactId} to append to`);
    }
    if (append && before === 'closed') {
      this.#find('chunk-after-last', `artifact ${artifactId} had its last chunk already`);
    }
    if (!append && before === 'open') {
      this.#find('replaced-artifact-while-open', `artifact ${artifactId} began anew before its last chunk`);
    }
    this.#chunks.set(artifactId, lastChunk ? 'closed' : 'open');
  }

  #checkParts(parts: readonly unknown[], whose: string): void {
    if (parts.length === 0) this.#find('empty-parts', `${whose} has no parts`);
  }
}

/** True when a stream may end in the state. */
function isResting(state: TaskState | undefined): boolean {
  return state !== undefined && (isTerminal(state) || isInterrupted(state));
}

/** Checks a whole stream. */
export function lintStream(events: Iterable<StreamEvent>): LintFinding[] {
  const linter = new StreamLinter();
  const findings: LintFinding[] = [];
  for (const event of events) findings.push(...linter.check(event));
  findings.push(...linter.end());
  return findings;
}
