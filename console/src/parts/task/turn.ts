import type { ChatEvent } from '../../../../src/console/api.ts';
import type { Finding } from '../../../../src/protocol/lint.ts';
import type { Message } from '../../../../src/protocol/message.ts';
import { type Part, textOf } from '../../../../src/protocol/part.ts';
import { beginFold, type TaskFold } from '../../../../src/protocol/reduce.ts';
import { isTask, type Task, type TaskState, type TaskStatus } from '../../../../src/protocol/task.ts';

/** A state that a task came to, and what the agent said with it. */
export interface Step {
  readonly state: TaskState;
  readonly parts?: readonly Part[];
  readonly at?: string;
  readonly findings: readonly Finding[];
}

/** What a person said and all that came of it. */
export interface Turn {
  readonly id: string;
  readonly said: readonly Part[];
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly isRunning: boolean;
  readonly steps: readonly Step[];
  /** Steps that came first and are no longer kept. */
  readonly lostSteps: number;
  readonly task?: Task;
  /** A direct answer, without a task. */
  readonly message?: Message;
  /** Ids of artifacts that changed in this turn. */
  readonly touched: ReadonlySet<string>;
  /** Ids of artifacts of which more may come. */
  readonly growing: ReadonlySet<string>;
  /** Findings of no step: of artifacts, messages, and of the stream as a whole. */
  readonly findings: readonly Finding[];
  readonly trouble?: { readonly reason: string; readonly message: string };
  /** The question that this turn answers; told again with the task, it is not asked again. */
  readonly question?: TaskStatus;
  /** What the task is made with; never shown. */
  readonly fold?: TaskFold;
}

/** How many steps of a turn are kept. */
const maxSteps = 300;
const maxFindings = 100;

/** Begins a turn. */
export function beginTurn(id: string, said: readonly Part[], at: number, question?: TaskStatus): Turn {
  return {
    ...(question && { question }),
    id,
    said,
    at,
    isRunning: true,
    steps: [],
    lostSteps: 0,
    touched: new Set(),
    growing: new Set(),
    findings: [],
  };
}

function withStep(turn: Turn, step: Step): Turn {
  const last = turn.steps.at(-1);
  // A state that is told again, without words, tells nothing.
  if (last && last.state === step.state && !step.parts && step.findings.length === 0) return turn;
  // Nor does one that had no words before it has some.
  const isFirstWord = last?.state === step.state && !last.parts && last.findings.length === 0;
  const steps = [...(isFirstWord ? turn.steps.slice(0, -1) : turn.steps), step];
  if (steps.length <= maxSteps) return { ...turn, steps };
  return { ...turn, steps: steps.slice(1), lostSteps: turn.lostSteps + 1 };
}

function withStatus(turn: Turn, { status }: Pick<Task, 'status'>, findings: readonly Finding[]): Turn {
  return withStep(turn, {
    state: status.state,
    findings,
    ...(status.message && { parts: status.message.parts }),
    ...(status.timestamp !== undefined && { at: status.timestamp }),
  });
}

const withFindings = (turn: Turn, findings: readonly Finding[]): Turn =>
  findings.length === 0 ? turn : { ...turn, findings: [...turn.findings, ...findings].slice(-maxFindings) };

/** Whether two statuses say the same; ids and times are not the same in every version. */
function isSame(one: TaskStatus, other: TaskStatus | undefined): boolean {
  return (
    one.state === other?.state && textOf(one.message?.parts ?? []) === textOf(other.message?.parts ?? [])
  );
}

/** What the agent said since the person spoke last; in an answer of one piece it is history already. */
function saidSince(task: Task): Message[] {
  const history = task.history ?? [];
  const last = history.findLastIndex(({ role }) => role === 'user');
  const said = history.slice(last + 1);
  return said.filter(({ messageId }) => messageId !== task.status.message?.messageId);
}

function hearAnswer(turn: Turn, answer: Task | Message): Turn {
  if (!isTask(answer)) return { ...turn, message: answer };
  let next = turn;
  for (const { parts } of saidSince(answer)) next = withStep(next, { state: 'working', parts, findings: [] });
  next = withStatus(next, answer, []);
  const touched = new Set((answer.artifacts ?? []).map(({ artifactId }) => artifactId));
  return { ...next, task: answer, touched };
}

/** Adds to a turn what became of it. */
export function hear(turn: Turn, heard: ChatEvent): Turn {
  if (heard.kind === 'done') return { ...turn, isRunning: false, growing: new Set() };
  if (heard.kind === 'error') {
    const { reason, message } = heard;
    return { ...turn, isRunning: false, growing: new Set(), trouble: { reason, message } };
  }
  if (heard.kind === 'answer') return hearAnswer(turn, heard.answer);
  const { event, findings } = heard;
  if (event.kind === 'message') return withFindings({ ...turn, message: event.message }, findings);
  let fold = turn.fold;
  if (fold) fold.apply(event);
  else {
    fold = beginFold(event);
    if (event.kind !== 'task') fold?.apply(event);
  }
  const next: Turn = fold ? { ...turn, fold, task: fold.task() } : turn;
  if (event.kind === 'task') {
    if (turn.steps.length === 0 && isSame(event.task.status, turn.question))
      return withFindings(next, findings);
    return withStatus(next, event.task, findings);
  }
  if (event.kind === 'status') return withStatus(next, event, findings);
  const id = event.artifact.artifactId;
  const growing = new Set(next.growing);
  // Without a word about the last chunk an artifact is whole when it came in one piece.
  if (event.lastChunk === true) growing.delete(id);
  else if (event.append || event.lastChunk === false) growing.add(id);
  return withFindings({ ...next, touched: new Set(next.touched).add(id), growing }, findings);
}
