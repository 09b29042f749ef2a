import { A2AError } from '../../protocol/errors.ts';
import { isInterrupted, type TaskState, type TraceContext } from '../../protocol/task.ts';
import { taskStateName } from '../../tracing/a2a-attributes.ts';
import { LazyTracing, type Span } from '../../tracing/tracing.ts';
import type { AgentDefinition, ProcessFunction } from '../agent-definition.ts';
import type { AgentOutput, AgentResult } from '../agent-output.ts';
import { toIterator } from '../agent-output.ts';
import type { ProcessContext } from '../process-context.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { TaskRun, TaskRunHost } from './task-run.ts';

/** The span of one run, and why it failed. */
interface RunSpan {
  readonly span: Span;
  reason: string | undefined;
  /** True while the run waits for input. */
  isPaused: boolean;
}

type CommandHandler = NonNullable<TaskStore['onCommand']>;

/** Calls both metrics and tracer with task states. @returns undefined if neither is enabled. */
export function taskStateListener(
  metrics: Metrics | undefined,
  tracer: RunTracer | undefined,
): TaskRunHost['onTaskState'] {
  if (!tracer) return metrics?.countTaskState;
  return (state, run) => {
    metrics?.countTaskState(state);
    if (run) tracer.stateChanged(run, state);
  };
}

/** How a process function is called. */
type RunStart = 'message' | 'recovery';

/** Creates a span for each run of a task. */
export class RunTracer {
  readonly #tracing: LazyTracing;
  readonly #agent: Pick<AgentDefinition, 'name' | 'version'>;
  /** Spans of runs by task id. */
  readonly #spans = new Map<string, RunSpan>();
  /** Trace contexts of tasks with a run, whose end ends the span. A direct reply has no task. */
  readonly #runs = new Map<string, TraceContext | undefined>();

  constructor(tracing: LazyTracing, agent: Pick<AgentDefinition, 'name' | 'version'>) {
    this.#tracing = tracing;
    this.#agent = agent;
  }

  /** @returns undefined if tracing is disabled. */
  static of(option: boolean | undefined, agent: AgentDefinition): RunTracer | undefined {
    const tracing = new LazyTracing(option);
    return tracing.isEnabled ? new RunTracer(tracing, agent) : undefined;
  }

  /** Trace context that is stored with a new task. */
  readonly activeContext = (): TraceContext | undefined => this.#tracing.current?.activeContext();

  runCreated(run: TaskRun): void {
    this.#runs.set(run.taskId, run.task().trace);
  }

  /** Records that a run waits for input and that a message has continued it. */
  stateChanged(run: TaskRun, state: TaskState): void {
    const current = this.#spans.get(run.taskId);
    if (!current) return;
    if (isInterrupted(state)) {
      current.isPaused = true;
      current.span.addEvent('gen_ai.agent.paused', { 'a2a.task.state': taskStateName(state) });
    } else if (current.isPaused && state === 'working') {
      current.isPaused = false;
      current.span.addEvent('gen_ai.agent.resumed');
      // The message that continues the run belongs to another trace.
      current.span.linkActive();
    }
  }

  runEnded({ taskId, log }: TaskRun): void {
    this.#runs.delete(taskId);
    const ending = this.#spans.get(taskId);
    if (!ending) return;
    ending.span.set({ 'a2a.task.state': taskStateName(log.state) });
    if (log.state === 'failed') ending.reason ??= 'TASK_FAILED';
    this.#end(taskId, ending);
  }

  /** Executes commands of other processes in the traces of the requests that they have received. */
  traceCommands(execute: CommandHandler): CommandHandler {
    return (log, command) => {
      const { current } = this.#tracing;
      const trace = command.kind === 'message' ? command.trace : undefined;
      if (current && trace) current.runFrom({ ...trace }, () => execute(log, command));
      else execute(log, command);
    };
  }

  /** Wraps a process function in a span. */
  wrap(process: ProcessFunction, start: RunStart): ProcessFunction {
    return (context) => {
      const ending = this.#start(context, start);
      if (!ending) return process(context);
      const { span } = ending;
      const { taskId } = context;
      this.#spans.set(taskId, ending);
      const processEnded = (reason?: string): void => {
        ending.reason ??= reason;
        if (!this.#runs.has(taskId)) this.#end(taskId, ending);
      };
      try {
        const output = span.run(() => process(context));
        const iterator = toIterator(output);
        if (iterator) return { [Symbol.asyncIterator]: () => traceIterator(span, iterator, processEnded) };
        return traceResult(Promise.resolve(output as Promise<AgentResult> | AgentResult), processEnded);
      } catch (error) {
        processEnded(A2AError.from(error).reason);
        throw error;
      }
    };
  }

  #start({ taskId, contextId }: ProcessContext, start: RunStart): RunSpan | undefined {
    const { current } = this.#tracing;
    if (!current) return undefined;
    const { name, version } = this.#agent;
    const trace = this.#runs.get(taskId);
    const active = start === 'recovery' ? undefined : current.activeContext();
    const span = current.start(`invoke_agent ${name}`, {
      kind: 'internal',
      // A run that continues after a restart belongs to the trace in which the task was created.
      ...(start === 'recovery' && { root: true, from: { ...trace } }),
      // A later message belongs to a trace of its own.
      ...(active && trace && traceIdOf(active) !== traceIdOf(trace) && { links: [{ ...trace }] }),
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': name,
        'gen_ai.agent.version': version,
        'gen_ai.conversation.id': contextId,
        'a2a.task.id': taskId,
      },
    });
    return { span, reason: undefined, isPaused: false };
  }

  #end(taskId: string, ending: RunSpan): void {
    if (this.#spans.get(taskId) === ending) this.#spans.delete(taskId);
    ending.span.end(ending.reason);
  }
}

function traceIdOf({ traceparent = '' }: TraceContext): string {
  return traceparent.slice(3, 35);
}

async function traceResult<T>(work: Promise<T>, onEnd: (reason?: string) => void): Promise<T> {
  try {
    const result = await work;
    onEnd();
    return result;
  } catch (error) {
    onEnd(A2AError.from(error).reason);
    throw error;
  }
}

/** A generator runs in the async context of each `next()` call, so every step is run within the span. */
function traceIterator(
  span: Span,
  inner: AsyncIterator<AgentOutput> | Iterator<AgentOutput>,
  onEnd: (reason?: string) => void,
): AsyncIterator<AgentOutput> {
  const step = async (
    advance: () => Promise<IteratorResult<AgentOutput>> | IteratorResult<AgentOutput>,
  ): Promise<IteratorResult<AgentOutput>> => {
    try {
      const result = await span.run(advance);
      if (result.done) onEnd();
      return result;
    } catch (error) {
      onEnd(A2AError.from(error).reason);
      throw error;
    }
  };
  return {
    next: () => step(() => inner.next()),
    return: (value?: unknown) => step(() => inner.return?.(value) ?? { done: true, value }),
  };
}
