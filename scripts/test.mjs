// npm test: all checks and the tests of the first tier. npm run test:full (--full): the tests named *.full.test.ts.
// All steps run, also after a failure. The last line is always `N passed, M failed, K skipped`.
import { bin, runSteps, vitestStep } from './test/run-steps.mjs';

const types = (project) => [process.execPath, 'node_modules/ts7/bin/tsc', '--noEmit', '-p', project];
const build = { name: 'build', command: [process.execPath, 'scripts/build.mjs', '--if-stale'] };

await runSteps(
  process.argv.includes('--full')
    ? [build, vitestStep('full', ['--project=full'])]
    : [
        { name: 'format', command: [bin('biome'), 'format', '.'] },
        { name: 'lint', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
        { name: 'types', command: types('tsconfig.json') },
        { name: 'page', command: types('console/tsconfig.json') },
        build,
        { name: 'unused', command: [bin('knip')] },
        vitestStep('tests', ['--project=first', '--project=unit']),
      ],
);
