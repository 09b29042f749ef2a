import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const firstTests = ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'test/**/*.test.ts'];
const fullTests = firstTests.map((pattern) => pattern.replace('*.test.ts', '*.full.test.ts'));
const setup = 'test/support/client/forget-endpoints.ts';
const setupFiles = [setup, 'test/support/fixed-seed.ts'];

/**
 * Runs chaos tests before tests with processes, brokers, browsers and mutants, and these before unit tests, so that no long
 * file runs alone at the end.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number =>
      /\/test\/chaos\//.test(moduleId) ? 0 : /\/test\/|\/mutants\//.test(moduleId) ? 1 : 2;
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

/** The modules of package.json#imports, as Node loads them. */
const alias = {
  '#http-driver': fileURLToPath(new URL('src/client/http/undici-driver.ts', import.meta.url)),
  '#node-server': fileURLToPath(new URL('src/server/node/listen.ts', import.meta.url)),
};

export default defineConfig({
  resolve: { alias },
  test: {
    // These bound hangs and must not decide results: a busy machine can be ten times slower than a quiet one.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Commands under test leave the folders of the user alone.
    env: { DRAGOMAN_SESSIONS: 'off' },
    // Two more than the cores of a small machine: files that start processes and brokers wait for half of their time.
    maxWorkers: 4,
    globalSetup: 'test/support/process/run-folder.ts',
    sequence: { sequencer: LongestFirst },
    // The first tier (`npm test`) and the second (`npm run test:full`). The file name alone decides.
    projects: [
      // Files of the first tier share processes: loading the sources for each file takes a quarter of the time.
      {
        extends: true,
        test: { name: 'first', include: firstTests, exclude: fullTests, isolate: false, setupFiles },
      },
      {
        extends: true,
        // Single tests of the second tier take half a minute on a quiet machine.
        test: { name: 'full', include: fullTests, setupFiles: [setup], testTimeout: 600_000 },
      },
    ],
  },
});
