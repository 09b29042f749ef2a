import type { Clock } from '../../primitives/clock.ts';
import type { LogSink } from '../../primitives/log.ts';
import type { AgentOptions } from '../agent-definition.ts';
import type { TaskRunTable } from './run-table.ts';
import type { TaskRun } from './task-run.ts';

const defaultIdleTimeout = 15 * 60_000;

/** Fails runs that exceed `idleTimeout` or `deadline`. One timer serves all runs; it is active only while there are any. */
export class Watchdog {
  readonly #runs: TaskRunTable;
  readonly #clock: Pick<Clock, 'monotonic' | 'every'>;
  readonly #report: LogSink;
  readonly #idleTimeout: number;
  readonly #deadline: number;
  /** Milliseconds between two checks; 0 if there is nothing to check. */
  readonly #interval: number;
  #stopTimer: (() => void) | undefined = undefined;
  #checkedAt = 0;
  #isStopped = false;

  constructor(
    runs: TaskRunTable,
    clock: Pick<Clock, 'monotonic' | 'every'>,
    options: AgentOptions,
    report: LogSink,
  ) {
    this.#runs = runs;
    this.#report = report;
    this.#clock = clock;
    this.#idleTimeout = options.idleTimeout ?? defaultIdleTimeout;
    this.#deadline = options.deadline ?? 0;
    const limits = [this.#idleTimeout, this.#deadline].filter((limit) => limit > 0);
    this.#interval =
      limits.length === 0 ? 0 : Math.max(10, Math.min(1_000, ...limits.map((limit) => limit / 4)));
  }

  /** Called when a run starts. @param now - monotonic time in milliseconds. */
  runStarted(now: number): void {
    if (this.#interval === 0 || this.#isStopped) return;
    // Some runtimes end a timer with the request that created it.
    const isOverdue = now - this.#checkedAt > this.#interval * 4;
    if (this.#stopTimer && !isOverdue) return;
    this.#stopTimer?.();
    this.#checkedAt = now;
    this.#stopTimer = this.#clock.every(this.#interval, () => this.#check());
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer?.();
  }

  #check(): void {
    const now = this.#clock.monotonic();
    this.#checkedAt = now;
    const runs = this.#runs.all();
    if (runs.length === 0) {
      this.#stopTimer?.();
      this.#stopTimer = undefined;
    }
    for (const run of runs) {
      if (run.hasNewOutput) {
        run.hasNewOutput = false;
        run.activeAt = now;
      }
      // The time that the client takes to answer does not count, nor does an outage of the task store.
      if (run.isAsking || run.isPaused) continue;
      if (this.#deadline > 0 && now - run.startedAt >= this.#deadline) {
        this.#fail(run, `The agent did not finish within ${formatSeconds(this.#deadline)}.`);
      } else if (this.#idleTimeout > 0 && now - run.activeAt >= this.#idleTimeout) {
        this.#fail(run, `The agent produced no output for ${formatSeconds(this.#idleTimeout)}.`);
      }
    }
  }

  #fail(run: TaskRun, message: string): void {
    this.#report({ level: 'warn', message, taskId: run.taskId });
    run.stop('failed', message);
  }
}

function formatSeconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
