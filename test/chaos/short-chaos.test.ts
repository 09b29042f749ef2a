import { expect, it } from 'vitest';
import { hasPostgres } from '../support/store/postgres-server.ts';
import { chaosSeed, runChaos } from './run-chaos.ts';

it.skipIf(!hasPostgres)(
  'replicas lose, repeat and reorder nothing while processes and connections fail',
  async () => {
    const { violations, waiting, ...counts } = await runChaos({
      seed: chaosSeed(),
      tasks: 120,
      faults: 4,
      concurrency: 60,
    });
    console.log(counts);
    expect([...violations, ...waiting]).toEqual([]);
    expect(counts.tasks).toBeGreaterThanOrEqual(120);
  },
);
