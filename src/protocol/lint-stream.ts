import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent, StreamEvent } from './event.ts';
import { isTerminal, isTerminalOrInterrupted, type Task, type TaskState, type TaskStatus } from './task.ts';

/** Identifier of a rule for streams. */
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

/** A violation of a rule. */
export interface LintFinding {
  rule: LintRule;
  /** A `warning` is legal but rarely intended. */
  level: 'error' | 'warning';
  /** Index of the event from 0; for the end of the stream, the number of events. */
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

/** Checks incrementally whether the events of one stream are legal. */
export class StreamLinter {
  #index = 0;
  #findings: LintFinding[] = [];
  #isDirect = false;
  #ids: { taskId: string; contextId: string } | undefined;
  #state: TaskState | undefined;
  #time = Number.NEGATIVE_INFINITY;
  #sequence = Number.NEGATIVE_INFINITY;
  /** Whether the last chunk of an artifact was sent; snapshots of the task do not contain this. */
  #chunks = new Map<string, 'open' | 'closed' | 'unknown'>();

  /** Returns the violations of the next event. */
  check(event: StreamEvent): LintFinding[] {
    this.#findings = [];
    this.#checkPosition(event);
    this.#checkSequence(event);
    switch (event.kind) {
      case 'task':
        this.#checkTask(event.task);
        break;
      case 'message':
        this.#checkParts(event.message.parts, 'The message');
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

  /** Returns the violations of the whole stream after its last event. */
  end(): LintFinding[] {
    this.#findings = [];
    if (this.#index === 0) this.#report('no-events', 'The stream ended without events');
    else if (!this.#isDirect && (this.#state === undefined || !isTerminalOrInterrupted(this.#state))) {
      this.#report('unfinished', `The stream ended in the state ${this.#state ?? 'undefined'}`);
    }
    return this.#findings;
  }

  #report(rule: LintRule, message: string): void {
    const level = warnings.has(rule) ? 'warning' : 'error';
    this.#findings.push({ rule, level, index: this.#index, message });
  }

  #checkPosition(event: StreamEvent): void {
    if (this.#index === 0) {
      if (event.kind === 'message') this.#isDirect = true;
      else if (event.kind !== 'task') {
        this.#report('first-event', `The first event must be a task or a message, not ${event.kind}`);
      }
      return;
    }
    if (this.#isDirect || event.kind === 'message') {
      this.#report('message-alone', 'A direct message must be the only event of its stream');
    }
    if (this.#state !== undefined && isTerminal(this.#state)) {
      this.#report('after-terminal', `No event may follow the terminal state ${this.#state}`);
    }
  }

  #checkSequence({ sequence }: StreamEvent): void {
    if (sequence === undefined) return;
    if (sequence <= this.#sequence) {
      this.#report('sequence-not-increasing', `Sequence number ${sequence} follows ${this.#sequence}`);
    }
    this.#sequence = Math.max(this.#sequence, sequence);
  }

  #checkIds({ taskId, contextId }: { taskId: string; contextId: string }): void {
    if (!this.#ids) {
      this.#ids = { taskId, contextId };
      return;
    }
    if (taskId !== this.#ids.taskId) {
      this.#report('wrong-task-id', `Task id is ${taskId}, expected ${this.#ids.taskId}`);
    }
    if (contextId !== this.#ids.contextId) {
      this.#report('wrong-context-id', `Context id is ${contextId}, expected ${this.#ids.contextId}`);
    }
  }

  #checkTask(task: Task): void {
    if (this.#index > 0) this.#report('task-again', 'The task snapshot was repeated');
    this.#checkIds({ taskId: task.id, contextId: task.contextId });
    this.#checkStatus(task.status);
    for (const { artifactId, parts } of task.artifacts ?? []) {
      this.#checkParts(parts, `Artifact ${artifactId}`);
      if (!this.#chunks.has(artifactId)) this.#chunks.set(artifactId, 'unknown');
    }
    for (const message of task.history ?? []) this.#checkParts(message.parts, `Message ${message.messageId}`);
  }

  #checkStatus({ state, message, timestamp }: TaskStatusUpdateEvent['status']): void {
    if (state === 'unknown') this.#report('unknown-state', 'The task state is unknown');
    const hasStarted = this.#state !== undefined && this.#state !== 'submitted' && this.#state !== 'unknown';
    if (state === 'submitted' && hasStarted) {
      this.#report('state-backwards', `The state changed from ${this.#state} back to submitted`);
    }
    this.#state = state;
    if (message) this.#checkParts(message.parts, 'The status message');
    this.#checkTime(timestamp);
  }

  #checkTime(timestamp: TaskStatus['timestamp']): void {
    if (timestamp === undefined) return;
    const time = timestampFormat.test(timestamp) ? Date.parse(timestamp) : Number.NaN;
    if (Number.isNaN(time)) {
      this.#report(
        'bad-timestamp',
        `Invalid timestamp ${timestamp}, expected for example 2026-06-01T10:00:00.000Z`,
      );
      return;
    }
    if (time < this.#time) this.#report('time-backwards', `${timestamp} is before the previous status`);
    this.#time = Math.max(this.#time, time);
  }

  #checkArtifact({ artifact, append, lastChunk }: TaskArtifactUpdateEvent): void {
    const { artifactId } = artifact;
    const chunkState = this.#chunks.get(artifactId);
    this.#checkParts(artifact.parts, `Artifact ${artifactId}`);
    if (append && chunkState === undefined) {
      this.#report('append-without-start', `Append to unknown artifact ${artifactId}`);
    }
    if (append && chunkState === 'closed') {
      this.#report('chunk-after-last', `Chunk after the last chunk of artifact ${artifactId}`);
    }
    if (!append && chunkState === 'open') {
      this.#report(
        'replaced-artifact-while-open',
        `Artifact ${artifactId} was replaced before its last chunk`,
      );
    }
    this.#chunks.set(artifactId, lastChunk ? 'closed' : 'open');
  }

  #checkParts(parts: readonly unknown[], owner: string): void {
    if (parts.length === 0) this.#report('empty-parts', `${owner} has no parts`);
  }
}

/** Returns the violations of a complete stream. */
export function lintStream(events: Iterable<StreamEvent>): LintFinding[] {
  const linter = new StreamLinter();
  const findings: LintFinding[] = [];
  for (const event of events) findings.push(...linter.check(event));
  findings.push(...linter.end());
  return findings;
}
