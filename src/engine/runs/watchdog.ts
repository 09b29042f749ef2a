import type { IntervalClock } from '../interval-clock.ts';
import type { AgentOptions } from '../agent-definition.ts';
import type { TaskRunTable } from './run-table.ts';

const defaultIdleTimeout = 15 * 60_000;

/**
 * Ends runs that are silent for too long or take too long altogether. One timer looks after all of them.
 *
 * @returns what stops it.
 */
export function startWatchdog(runs: TaskRunTable, clock: IntervalClock, options: AgentOptions): () => void {
  const idleTimeout = options.idleTimeout ?? defaultIdleTimeout;
  const deadline = options.deadline ?? 0;
  const limits = [idleTimeout, deadline].filter((limit) => limit > 0);
  if (limits.length === 0) return () => {};
  return clock.every(Math.max(10, Math.min(1_000, ...limits.map((limit) => limit / 4))), () => {
    const now = clock.now();
    for (const run of runs.all()) {
      // While it waits for an answer it is the caller that takes its time.
      if (run.isAsking) continue;
      if (deadline > 0 && now - run.startedAt >= deadline) {
        run.stop('failed', `The agent did not finish within ${seconds(deadline)}.`);
      } else if (idleTimeout > 0 && now - run.activeAt >= idleTimeout) {
        run.stop('failed', `The agent gave no sign of life for ${seconds(idleTimeout)}.`);
      }
    }
  });
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
