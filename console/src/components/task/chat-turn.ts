import type { ChatEvent } from '../../../../src/console/console-api.ts';
import type { TaskArtifactUpdateEvent, StreamEvent } from '../../../../src/protocol/event.ts';
import type { LintFinding } from '../../../../src/protocol/lint-stream.ts';
import type { Message } from '../../../../src/protocol/message.ts';
import { type Part, textOf } from '../../../../src/protocol/part.ts';
import { startReducer, type TaskReducer } from '../../../../src/protocol/reduce.ts';
import { isTask, type Task, type TaskState, type TaskStatus } from '../../../../src/protocol/task.ts';

/** A state transition of a task with its status message. */
export interface StateChange {
  readonly state: TaskState;
  readonly parts?: readonly Part[];
  readonly at?: string;
  readonly findings: readonly LintFinding[];
}

/** A message of the user and its results. */
export interface ChatTurn {
  readonly id: string;
  readonly input: readonly Part[];
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly isRunning: boolean;
  readonly steps: readonly StateChange[];
  /** Number of evicted older steps. */
  readonly lostSteps: number;
  readonly task?: Task;
  /** A direct message, without a task. */
  readonly message?: Message;
  /** Ids of artifacts that changed in this turn. */
  readonly touched: ReadonlySet<string>;
  /** Ids of artifacts that are still being streamed. */
  readonly growing: ReadonlySet<string>;
  /** Findings without a step: of artifacts, messages and the stream as a whole. */
  readonly findings: readonly LintFinding[];
  readonly error?: { readonly reason: string; readonly message: string };
  /** Number of events that the server did not keep. */
  readonly omitted?: number;
  /** The question that this turn replies to; not shown again when the task repeats it. */
  readonly question?: TaskStatus;
  /** Computes the task from events; not rendered. */
  readonly reducer?: TaskReducer;
}

/** Maximum number of steps per turn. */
const maxSteps = 300;
const maxFindings = 100;

/** Creates a turn. */
export function startTurn(id: string, input: readonly Part[], at: number, question?: TaskStatus): ChatTurn {
  return {
    ...(question && { question }),
    id,
    input,
    at,
    isRunning: true,
    steps: [],
    lostSteps: 0,
    touched: new Set(),
    growing: new Set(),
    findings: [],
  };
}

function withStep(turn: ChatTurn, step: StateChange): ChatTurn {
  const last = turn.steps.at(-1);
  // A repeated state without a message adds no step.
  if (last && last.state === step.state && !step.parts && step.findings.length === 0) return turn;
  // A state without a message is replaced when the same state arrives with one.
  const isFirstWord = last?.state === step.state && !last.parts && last.findings.length === 0;
  const steps = [...(isFirstWord ? turn.steps.slice(0, -1) : turn.steps), step];
  if (steps.length <= maxSteps) return { ...turn, steps };
  return { ...turn, steps: steps.slice(1), lostSteps: turn.lostSteps + 1 };
}

function withStatus(
  turn: ChatTurn,
  { status }: Pick<Task, 'status'>,
  findings: readonly LintFinding[],
): ChatTurn {
  return withStep(turn, {
    state: status.state,
    findings,
    ...(status.message && { parts: status.message.parts }),
    ...(status.timestamp !== undefined && { at: status.timestamp }),
  });
}

const withFindings = (turn: ChatTurn, findings: readonly LintFinding[]): ChatTurn =>
  findings.length === 0 ? turn : { ...turn, findings: [...turn.findings, ...findings].slice(-maxFindings) };

/** Compares two statuses; ids and timestamps differ between versions. */
function isSame({ state, message }: TaskStatus, other: TaskState, parts: readonly Part[] = []): boolean {
  return state === other && textOf(message?.parts ?? []) === textOf(parts);
}

const isQuestion = (status: TaskStatus, question: TaskStatus | undefined): boolean =>
  question !== undefined && isSame(status, question.state, question.message?.parts);

/** Agent messages after the last user message; in a non-streaming response they are already history. */
function newAgentMessages(task: Task): Message[] {
  const history = task.history ?? [];
  const last = history.findLastIndex(({ role }) => role === 'user');
  return history.slice(last + 1).filter(({ messageId }) => messageId !== task.status.message?.messageId);
}

function applyResult(turn: ChatTurn, result: Task | Message): ChatTurn {
  if (!isTask(result)) return { ...turn, message: result };
  let { reducer: _reducer, ...next } = turn;
  // What the task did before is known, such as when it is canceled.
  if (turn.steps.length > 0) return { ...applySnapshot(next, result, []), task: result };
  for (const { parts } of newAgentMessages(result))
    next = withStep(next, { state: 'working', parts, findings: [] });
  next = withStatus(next, result, []);
  return { ...next, task: result };
}

function applyArtifact(turn: ChatTurn, { artifact, append, lastChunk }: TaskArtifactUpdateEvent): ChatTurn {
  const id = artifact.artifactId;
  const growing = new Set(turn.growing);
  // Without `lastChunk` an artifact is complete if it arrived in one event.
  if (lastChunk === true) growing.delete(id);
  else if (append || lastChunk === false) growing.add(id);
  return { ...turn, touched: new Set(turn.touched).add(id), growing };
}

/** A task snapshot, sent at the start and after a resume: only new content becomes a step. */
function applySnapshot(turn: ChatTurn, task: Task, findings: readonly LintFinding[]): ChatTurn {
  const last = turn.steps.at(-1);
  const known = last ? isSame(task.status, last.state, last.parts) : isQuestion(task.status, turn.question);
  return known ? withFindings(turn, findings) : withStatus(turn, task, findings);
}

function applyStreamEvent(turn: ChatTurn, event: StreamEvent, findings: readonly LintFinding[]): ChatTurn {
  if (event.kind === 'message') return withFindings({ ...turn, message: event.message }, findings);
  const reducer = turn.reducer ?? startReducer(event);
  if (turn.reducer || event.kind !== 'task') reducer?.apply(event);
  const next: ChatTurn = reducer ? { ...turn, reducer } : turn;
  if (event.kind === 'task') return applySnapshot(next, event.task, findings);
  if (event.kind === 'status') return withStatus(next, event, findings);
  return withFindings(applyArtifact(next, event), findings);
}

function applyEvent(turn: ChatTurn, event: ChatEvent): ChatTurn {
  switch (event.kind) {
    case 'done':
      return { ...turn, isRunning: false, growing: new Set() };
    case 'error': {
      const { reason, message } = event;
      return { ...turn, isRunning: false, growing: new Set(), error: { reason, message } };
    }
    case 'result':
      return applyResult(turn, event.result);
    case 'event':
      return applyStreamEvent(turn, event.event, event.findings);
  }
}

/** Adds events to a turn. Batches are cheaper: the task is computed once. */
export function applyEvents(turn: ChatTurn, events: readonly ChatEvent[]): ChatTurn {
  const next = events.reduce(applyEvent, turn);
  return next.reducer ? { ...next, task: next.reducer.task() } : next;
}
