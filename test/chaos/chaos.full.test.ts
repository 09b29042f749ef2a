import { expect, it } from 'vitest';
import { hasPostgres } from '../support/store/postgres-server.ts';
import { chaosSeed, runChaos } from './run-chaos.ts';

/**
 * `DRAGOMAN_CHAOS_TASKS` makes the test shorter or longer. Each fault meets 200 tasks in progress, however many there are in all.
 */
const tasks = Number(process.env['DRAGOMAN_CHAOS_TASKS'] ?? 8_000);

it.skipIf(!hasPostgres)(
  `replicas lose, repeat and reorder nothing in ${tasks} tasks with 100 faults`,
  { timeout: 3_600_000 },
  async () => {
    const { violations, waiting, ...counts } = await runChaos({
      seed: chaosSeed(),
      tasks,
      faults: 100,
      concurrency: 200,
    });
    console.log(counts);
    expect([...violations, ...waiting]).toEqual([]);
    expect(counts.tasks).toBeGreaterThanOrEqual(tasks);
  },
);
