import type { Operation } from '../../protocol/agent.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { startReducer, type TaskReducer } from '../../protocol/reduce.ts';
import type { SendRequest, TaskPage } from '../../protocol/requests.ts';
import type { Message } from '../../protocol/message.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import type { RecordedExchange } from '../../tap/recording.ts';

/** A step of a recorded task. */
export interface PhaseStep {
  /** Milliseconds since the start of the phase. */
  readonly delay: number;
  /** Undefined if a client only learned that the task had not changed. */
  readonly event: StreamEvent | undefined;
  /** The operation by which a client learned of it, unless the agent told the client that had sent the message. */
  readonly waitsFor: 'get' | 'subscribe' | undefined;
  /** The exchange in which a client learned of it. */
  readonly exchange: RecordedExchange;
}

/**
 * What happened to a task because of one request: a message or a cancellation. Steps of a later phase wait for its request,
 * so that a replay keeps cause and effect in order.
 */
export interface TaskPhase {
  /** Undefined if the task is older than the recording. */
  readonly request: RecordedExchange | undefined;
  readonly steps: PhaseStep[];
}

/** What happened to a task in a recording. */
export interface TaskTimeline {
  readonly id: string;
  readonly contextId: string;
  readonly phases: readonly TaskPhase[];
}

/** A request or an event that concerns a task. */
interface Observation {
  readonly at: number;
  readonly exchange: RecordedExchange;
  readonly event: StreamEvent | undefined;
}

/** Returns the task ids that an exchange concerns, and what its client learned about each. */
function observe(exchange: RecordedExchange): { taskId: string; at: number; event: StreamEvent }[] {
  const { answer } = exchange;
  const found = (answer.events ?? []).map(({ at, event }) => ({ taskId: taskIdOf(event), at, event }));
  for (const task of resultTasks(exchange))
    found.push({ taskId: task.id, at: answer.at, event: { kind: 'task', task } });
  return found.flatMap(({ taskId, ...rest }) => (taskId === undefined ? [] : [{ taskId, ...rest }]));
}

function resultTasks({ operation, answer: { result } }: RecordedExchange): Task[] {
  if (result === undefined || result === null) return [];
  if (operation === 'listTasks') return (result as TaskPage).tasks;
  const isTaskResult = (taskResults as readonly Operation[]).includes(operation);
  return isTaskResult && isTask(result as Task | Message) ? [result as Task] : [];
}

const taskResults = ['send', 'stream', 'getTask', 'cancelTask', 'subscribe'] as const;

/** Returns the id of the task of an event; undefined for a direct message. */
function taskIdOf(event: StreamEvent): string | undefined {
  if (event.kind === 'message') return undefined;
  return event.kind === 'task' ? event.task.id : event.taskId;
}

/** Returns the task that a message started or continued; undefined if the answer was a direct message or an error. */
export function answeredTaskId(exchange: RecordedExchange): string | undefined {
  return observe(exchange)[0]?.taskId;
}

/** Reconstructs the tasks of a recording from all that clients learned about them. */
export function findTaskTimelines(exchanges: readonly RecordedExchange[]): TaskTimeline[] {
  const byTask = new Map<string, Observation[]>();
  for (const exchange of exchanges) {
    const events = observe(exchange);
    const add = (taskId: string, observation: Observation): void => {
      const all = byTask.get(taskId);
      if (all) all.push(observation);
      else byTask.set(taskId, [observation]);
    };
    const [first] = events;
    if (first && changesTask(exchange)) add(first.taskId, { at: exchange.at, exchange, event: undefined });
    for (const { taskId, at, event } of events) add(taskId, { at, exchange, event });
  }
  return [...byTask].map(([id, observations]) => toTaskTimeline(id, observations));
}

/** Returns true for exchanges that change a task. */
function changesTask({ operation, request, answer }: RecordedExchange): boolean {
  if (operation === 'cancelTask') return answer.result !== undefined;
  // A resumed stream repeats the message of the first one.
  return operation === 'send' || (operation === 'stream' && !isResumed(request as SendRequest));
}

function isResumed({ afterSequence }: SendRequest): boolean {
  return afterSequence !== undefined;
}

function toTaskTimeline(id: string, observations: readonly Observation[]): TaskTimeline {
  const ordered = [...observations].sort((a, b) => a.at - b.at || a.exchange.number - b.exchange.number);
  const phases: { at: number; phase: TaskPhase }[] = [];
  let reducer: TaskReducer | undefined;
  /** The stream that is followed. Others repeat its events. */
  let followed: RecordedExchange | undefined;
  const startPhase = (at: number, request: RecordedExchange | undefined) => {
    const started = { at, phase: { request, steps: [] } };
    phases.push(started);
    return started;
  };
  for (const { at, exchange, event } of ordered) {
    if (!event) {
      startPhase(at, exchange);
      continue;
    }
    if (followed && followed !== exchange && at <= lastEventAt(followed)) continue;
    const isNewStream = exchange.answer.events !== undefined && followed !== exchange;
    if (isNewStream) followed = exchange;
    const { at: start, phase } = phases.at(-1) ?? startPhase(at, undefined);
    const isFirst = reducer === undefined;
    const change = toChange(event, reducer);
    if (change && reducer) reducer.apply(change);
    else if (change) reducer = startReducer(change);
    const waitsFor = isFirst ? undefined : waitingFor(exchange, isNewStream);
    const isAnswer = exchange.answer.events === undefined;
    if (change || waitsFor || isAnswer)
      phase.steps.push({ delay: at - start, event: change, waitsFor, exchange });
  }
  const contextId = reducer?.task().contextId ?? '';
  return { id, contextId, phases: phases.map(({ phase }) => phase) };
}

function waitingFor(exchange: RecordedExchange, isNewStream: boolean): PhaseStep['waitsFor'] {
  if (exchange.operation === 'getTask' || exchange.operation === 'listTasks') return 'get';
  return isNewStream && !changesTask(exchange) ? 'subscribe' : undefined;
}

function lastEventAt({ answer: { events = [] } }: RecordedExchange): number {
  return events.at(-1)?.at ?? 0;
}

/** Returns the event if it changes the task. A snapshot with a part of the history keeps the rest. */
function toChange(event: StreamEvent, reducer: TaskReducer | undefined): StreamEvent | undefined {
  if (event.kind !== 'task' || !reducer) return event;
  const known = reducer.task();
  const { history = [] } = event.task;
  const task =
    history.length < (known.history?.length ?? 0)
      ? { ...event.task, ...(known.history && { history: known.history }) }
      : event.task;
  return JSON.stringify(toComparable(task)) === JSON.stringify(toComparable(known))
    ? undefined
    : { ...event, task };
}

function toComparable({ status, artifacts = [], history = [] }: Task): unknown {
  const { state, message } = status;
  return [
    state,
    message?.parts,
    artifacts.map(({ artifactId, name, parts }) => [artifactId, name, parts]),
    history.length,
  ];
}
