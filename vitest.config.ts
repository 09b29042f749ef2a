import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: whatever of them began last would leave the other cores without work. */
const longest = [
  'src/conformance/mutants/self-test.test.ts',
  'src/conformance/mutants/correct-variants.test.ts',
  'test/integration/mesh/broker-kill.test.ts',
  'test/integration/cli-compliance/core-messages.test.ts',
  'test/integration/cli-compliance/standard.test.ts',
  'test/integration/cli-compliance/core-settings.test.ts',
  'test/integration/bridge/supervisor.test.ts',
  'test/integration/conformance/report-page.test.ts',
  'test/integration/server/fuzzing.test.ts',
  'test/integration/conformance/conformance-command.test.ts',
  'test/integration/cli/cli.test.ts',
  'test/guides.test.ts',
  'test/console/console.test.ts',
].map((file) => resolve(import.meta.dirname, file));

for (const file of longest) if (!existsSync(file)) throw new Error(`vitest.config.ts names ${file}`);

/** Begins with what takes longest, also where no run before this one is remembered. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      longest.includes(moduleId) ? longest.indexOf(moduleId) : longest.length;
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One more than the cores that are sure to be there: files that start processes and brokers wait for half of their time.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    include: ['test/**/*.test.ts', 'src/**/*.test.ts', 'console/src/**/*.test.ts'],
  },
});
