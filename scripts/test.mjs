// Runs all checks and tests in order and stops at the first failing step.
// The last line is always `N passed, M failed, K skipped`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
const bin = (name) => join('node_modules', '.bin', name);
const vitest = (report, ...args) => [
  bin('vitest'),
  'run',
  ...args,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${join(folder, report)}`,
];

/** @type {{ name: string, command: string[], report?: string }[]} */
const steps = [
  { name: 'format', command: [bin('biome'), 'format', '.'] },
  { name: 'lint', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
  {
    name: 'types',
    command: [process.execPath, 'node_modules/ts7/bin/tsc', '--noEmit', '-p', 'tsconfig.json'],
  },
  {
    name: 'page',
    command: [process.execPath, 'node_modules/ts7/bin/tsc', '--noEmit', '-p', 'console/tsconfig.json'],
  },
  { name: 'build', command: [process.execPath, 'scripts/build.mjs', '--if-stale'] },
  { name: 'unused', command: [bin('knip')] },
  { name: 'tests', command: vitest('tests.json', '--exclude', 'test/package/**'), report: 'tests.json' },
  { name: 'package', command: vitest('package.json', 'test/package'), report: 'package.json' },
];

const total = { passed: 0, failed: 0, skipped: 0 };
const reasons = new Set();

for (const step of steps) {
  process.stdout.write(`${step.name.padEnd(8)} `);
  const began = performance.now();
  const { code, output } = await run(step.command);
  const seconds = `${((performance.now() - began) / 1000).toFixed(1)} s`;
  const counted = step.report === undefined ? undefined : count(step.report);
  const isGood = code === 0 && (step.report === undefined || counted !== undefined);
  const told = counted
    ? `, ${counted.passed} passed, ${counted.failed} failed, ${counted.skipped} skipped`
    : '';
  process.stdout.write(`${isGood ? 'ok' : 'FAILED'} in ${seconds}${told}\n`);
  for (const [, reason] of output.matchAll(/^skipped: (.+)$/gm)) reasons.add(reason);
  if (isGood) continue;
  process.stdout.write(`\n$ ${step.command.join(' ')}\n${output}\n`);
  // A step without tests, or one that failed outside of a test, counts as one failure.
  if (!counted || counted.failed === 0) total.failed++;
  process.exitCode = 1;
  break;
}

rmSync(folder, { recursive: true, force: true });
for (const reason of reasons) console.log(`skipped: ${reason}`);
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

/** Runs a command and collects its output. */
function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (text) => {
      output += text;
    };
    child.stdout.setEncoding('utf8').on('data', add);
    child.stderr.setEncoding('utf8').on('data', add);
    child.on('error', (error) => resolve({ code: 1, output: `${output}${error.message}` }));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** Adds the counts of a vitest report and collects the skipped tests. */
function count(report) {
  let read;
  try {
    read = JSON.parse(readFileSync(join(folder, report), 'utf8'));
  } catch {
    return undefined;
  }
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests, numTodoTests } = read;
  const skipped = numPendingTests + numTodoTests;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  for (const { name, assertionResults } of read.testResults) {
    const titles = assertionResults
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName }) => fullName.trim());
    if (titles.length === 0) continue;
    const more = titles.length > 1 ? ` and ${titles.length - 1} more` : '';
    reasons.add(`${relative(process.cwd(), name)}: ${titles[0]}${more}`);
  }
  return { passed, failed, skipped };
}
