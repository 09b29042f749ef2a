// npm test: all checks and the tests of the first tier. npm run test:full (--full): the tests named *.full.test.ts, and those
// of the first tier that use random examples, with other examples than in the first tier.
// All steps run, also after a failure. The last line is always `N passed, M failed, K skipped`.
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin, runSteps, vitestStep } from './test/run-steps.mjs';

const compiler = [process.execPath, 'node_modules/ts7/bin/tsc', '--noEmit', '--checkers', '1', '-p'];

// Compiler and linter are written in Go. More threads of the compiler repeat work, and rare garbage collections save a
// third of its processor time for a tenth more memory.
const env = { GOGC: '400', ...process.env };

/** Test files of the first tier that use random examples. */
const filesWithExamples = () =>
  ['src', 'test']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => join(folder, file)))
    .filter((file) => file.endsWith('.test.ts') && !file.endsWith('.full.test.ts'))
    .filter((file) => /fast-check|DRAGOMAN_SEED/.test(readFileSync(file, 'utf8')));

/** Checks properties with the seed of the environment variable DRAGOMAN_SEED, or with another one in each run. */
const examples = () => {
  const seed = process.env.DRAGOMAN_SEED ?? String(randomInt(1, 2 ** 31));
  console.log(`DRAGOMAN_SEED=${seed}`);
  return {
    ...vitestStep('examples', ['--project=first', ...filesWithExamples()]),
    env: { ...process.env, DRAGOMAN_SEED: seed },
  };
};

const build = { name: 'build', command: [process.execPath, 'scripts/build.mjs', '--if-stale'] };

await runSteps(
  process.argv.includes('--full')
    ? [build, examples(), vitestStep('full', ['--project=full'])]
    : [
        { name: 'format', command: [bin('biome'), 'format', '.'] },
        build,
        // Side by side, because most of them keep only one core busy.
        [
          { name: 'lint', command: [bin('oxlint'), '--type-aware', '--deny-warnings'], env },
          { name: 'types', command: [...compiler, 'tsconfig.json'], env },
          { name: 'page', command: [...compiler, 'console/tsconfig.json'], env },
          { name: 'unused', command: [bin('knip')] },
        ],
        vitestStep('tests', ['--project=first']),
      ],
);
