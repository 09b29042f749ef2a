import type { TaskLog, TaskStore, UnfinishedTask } from '../../store/task-store.ts';
import { nextTurn, sleep, unrefClock } from '../../primitives/clock.ts';
import { isThenable } from '../../primitives/maybe-promise.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { AgentDefinition, ProcessFunction } from '../agent-definition.ts';
import type { RunTracer } from './run-tracer.ts';
import { type FailTaskHost, failTask } from './fail-task.ts';

/** Collaborators of {@link TaskRecovery}. */
interface RecoveryHost extends FailTaskHost {
  /** Returns true if a run of this process owns the task. */
  isRunning(log: TaskLog): boolean;
  resume(log: TaskLog, process: ProcessFunction, message: Message): void;
}

/** Push notifications of processes that have ended, and of this one when it ends. */
interface DeliveryRecovery {
  /** @param tasks - the tasks that this process has taken over; undefined: all tasks. */
  resume(tasks?: readonly UnfinishedTask[]): Promise<void>;
  release(): Promise<void>;
}

/** How unfinished tasks are continued. */
interface RecoveryPlan {
  /** Name of the agent. */
  readonly agent: string;
  /** Undefined: they fail. */
  readonly process: ProcessFunction | undefined;
  /** Runs of one task that may end with their process. */
  readonly maxAttempts: number;
}

/** Returns how an agent continues unfinished tasks. @param process - the process function of the agent */
export function recoveryPlan(
  { name, resume, retry }: AgentDefinition,
  process: ProcessFunction,
  tracer?: RunTracer,
): RecoveryPlan {
  const continued = resume ?? (retry ? process : undefined);
  return {
    agent: name,
    process: continued && tracer ? tracer.wrap(continued, 'recovery') : continued,
    maxAttempts: retry?.attempts ?? 10,
  };
}

/** Tasks per transaction. Requests are processed between two batches. */
const batchSize = 256;

/** Milliseconds between two attempts to read tasks from a store that does not respond. */
const retryDelay = 200;

/**
 * Resumes or fails the tasks of processes that have ended: at startup all unfinished tasks, and in a shared store at any
 * time those whose process has ended or handed them over. Requests may arrive meanwhile: a task that a client cancels or changes
 * first is left as it is.
 */
export class TaskRecovery {
  readonly #taskStore: TaskStore;
  readonly #plan: RecoveryPlan;
  readonly #host: RecoveryHost;
  readonly #deliveries: DeliveryRecovery;
  #started: Promise<void> | undefined;
  #takingOver: Promise<void> | undefined;
  /** Called after each takeover of some tasks. */
  #onTakenOver: (() => void) | undefined = undefined;
  #isStopped = false;

  constructor(taskStore: TaskStore, plan: RecoveryPlan, host: RecoveryHost, deliveries: DeliveryRecovery) {
    this.#taskStore = taskStore;
    this.#plan = plan;
    this.#host = host;
    this.#deliveries = deliveries;
  }

  /** True if unfinished tasks continue in another process. */
  get canResume(): boolean {
    return this.#plan.process !== undefined;
  }

  /**
   * Reserves the store for the agent, and resolves when the tasks run, in a shared store when the first of them do. Later
   * calls return the same promise; after a failure they try again.
   *
   * @param mode - `recoverTasks` of the agent.
   */
  start(mode: boolean | undefined): Promise<void> {
    this.#started ??= this.#start(mode).catch((error: unknown) => {
      this.#started = undefined;
      throw error;
    });
    return this.#started;
  }

  async #start(mode: boolean | undefined): Promise<void> {
    await this.#taskStore.reserveFor?.(this.#plan.agent);
    if (mode === false) return;
    if (this.#taskStore.isShared) {
      this.#taskStore.onHandOver = () => void this.#takeOver();
      await this.#startTakingOver();
    } else {
      await this.#recover(await this.#taskStore.listUnfinished());
      await this.#deliveries.resume();
    }
  }

  /** Takes over no more tasks, because this process is about to end. */
  stop(): void {
    this.#isStopped = true;
    this.#taskStore.onHandOver = undefined;
  }

  /** Leaves tasks and push notifications to another process that shares the store. */
  async handOver(tasks: readonly UnfinishedTask[]): Promise<void> {
    await this.#takingOver;
    if (!this.#taskStore.isShared) return;
    try {
      await this.#deliveries.release();
      if (tasks.length > 0) await this.#taskStore.handOver?.(tasks);
    } catch (error) {
      this.#host.report({ level: 'error', message: 'Tasks could not be left to another process', error });
    }
  }

  /** Leaves an unfinished task that this process holds without a run to the next takeover. */
  readonly leave = async (task: UnfinishedTask): Promise<void> => {
    try {
      await this.#taskStore.handOver?.([task]);
    } catch (error) {
      void this.#leaveLater(task);
      throw error;
    }
  };

  /** Only this process can leave the task, so it has to try again. */
  async #leaveLater(task: UnfinishedTask): Promise<void> {
    let isLeft = false;
    while (!isLeft && !this.#isStopped) {
      await sleep(unrefClock, retryDelay);
      try {
        await this.#taskStore.handOver?.([task]);
        isLeft = true;
      } catch (error) {
        isLeft = A2AError.from(error).reason !== 'UNAVAILABLE';
        if (isLeft) reportFailure(task.id, error, this.#host);
      }
    }
  }

  /** Resolves after the first takeover. Others take tasks over as well, so requests do not wait until none is left. */
  #startTakingOver(): Promise<void> {
    return new Promise((resolve) => {
      this.#onTakenOver = resolve;
      void this.#takeOver().then(resolve);
    });
  }

  #takeOver(): Promise<void> {
    this.#takingOver ??= this.#takeOverAll()
      .catch((error: unknown) =>
        this.#host.report({ level: 'error', message: 'Tasks could not be taken over', error }),
      )
      .finally(() => (this.#takingOver = undefined));
    return this.#takingOver;
  }

  async #takeOverAll(): Promise<void> {
    while (!this.#isStopped) {
      const tasks = (await this.#taskStore.takeOver?.()) ?? [];
      await this.#recover(tasks);
      await this.#deliveries.resume(tasks);
      this.#onTakenOver?.();
      if (tasks.length === 0) return;
    }
  }

  async #recover(unfinished: readonly UnfinishedTask[]): Promise<void> {
    for (let start = 0; start < unfinished.length; start += batchSize) {
      let batch = await this.#recoverBatch(unfinished.slice(start, start + batchSize));
      // Only this process continues a task that it has taken over, so it has to try again.
      while (batch.length > 0 && !this.#isStopped) {
        await sleep(unrefClock, retryDelay);
        batch = await this.#recoverBatch(batch);
      }
    }
  }

  /** @returns the tasks that could not be read because the store did not respond. */
  async #recoverBatch(batch: readonly UnfinishedTask[]): Promise<readonly UnfinishedTask[]> {
    const host = this.#host;
    const unread: UnfinishedTask[] = [];
    const recovering = batch.map((task) =>
      recoverTask(this.#taskStore, task, this.#plan, host).catch((error: unknown) => {
        reportFailure(task.id, error, host);
        if (A2AError.from(error).reason === 'UNAVAILABLE') unread.push(task);
        return undefined;
      }),
    );
    for (const log of await Promise.all(recovering)) if (log) await waitUntilStored(log, host);
    await this.#taskStore.outage?.()?.ended;
    await nextTurn();
    return unread;
  }
}

/** @returns the log if the task was changed. */
async function recoverTask(
  taskStore: TaskStore,
  { owner, id, attempts = 0 }: UnfinishedTask,
  { process, maxAttempts }: RecoveryPlan,
  host: RecoveryHost,
): Promise<TaskLog | undefined> {
  const opening = taskStore.open(owner, id);
  const log = isThenable(opening) ? await opening : opening;
  if (!log || (log.state !== 'submitted' && log.state !== 'working') || host.isRunning(log)) return undefined;
  const message = log.task().history?.findLast(({ role }) => role === 'user');
  if (process && message && attempts < maxAttempts) {
    host.report({ level: 'info', message: 'Resuming a task after a restart', taskId: id });
    host.resume(log, process, message);
  } else {
    host.report({ level: 'warn', message: 'Task failed because of a restart', taskId: id });
    const times = attempts > 1 ? ` (${attempts} times)` : '';
    const reason = `The agent was restarted while it processed this task${times}. Send the message again.`;
    failTask(log, reason, host);
  }
  return log;
}

async function waitUntilStored(log: TaskLog, host: RecoveryHost): Promise<void> {
  try {
    await log.whenPersisted();
  } catch (error) {
    reportFailure(log.id, error, host);
  }
}

/** A conflict is no failure: another process or a client was faster. */
function reportFailure(taskId: string, error: unknown, host: RecoveryHost): void {
  if (A2AError.from(error).reason === 'CONFLICT') return;
  host.report({ level: 'error', message: 'A task could not be recovered after a restart', taskId, error });
}
