import type { Clock } from '../../primitives/clock.ts';
import type { AgentOptions } from '../agent-definition.ts';
import type { TaskRunTable } from './run-table.ts';

const defaultIdleTimeout = 15 * 60_000;

/**
 * Fails runs that exceed `idleTimeout` or `deadline`. One timer serves all runs.
 *
 * @returns a function that stops it.
 */
export function startWatchdog(
  runs: TaskRunTable,
  clock: Pick<Clock, 'monotonic' | 'every'>,
  options: AgentOptions,
): () => void {
  const idleTimeout = options.idleTimeout ?? defaultIdleTimeout;
  const deadline = options.deadline ?? 0;
  const limits = [idleTimeout, deadline].filter((limit) => limit > 0);
  if (limits.length === 0) return () => {};
  return clock.every(Math.max(10, Math.min(1_000, ...limits.map((limit) => limit / 4))), () => {
    const now = clock.monotonic();
    for (const run of runs.all()) {
      // The time that the client takes to answer does not count, nor does an outage of the task store.
      if (run.isAsking || run.isPaused) continue;
      if (deadline > 0 && now - run.startedAt >= deadline) {
        run.stop('failed', `The agent did not finish within ${formatSeconds(deadline)}.`);
      } else if (idleTimeout > 0 && now - run.activeAt >= idleTimeout) {
        run.stop('failed', `The agent produced no output for ${formatSeconds(idleTimeout)}.`);
      }
    }
  });
}

function formatSeconds(milliseconds: number): string {
  return `${milliseconds / 1_000} s`;
}
