// Runs all steps of a test run, also after a failure, and prints `N passed, M failed, K skipped` as the last line.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatDuration, showProgress } from './progress.mjs';

const reporter = fileURLToPath(new URL('vitest-reporter.mjs', import.meta.url));

/** Returns the path of an installed program. */
export const bin = (name) => join('node_modules', '.bin', name);

/** Returns a step that runs vitest with the given arguments. */
export const vitestStep = (name, args, node = process.execPath) => ({
  name,
  command: [
    node,
    'node_modules/vitest/vitest.mjs',
    'run',
    ...args,
    '--reporter=minimal',
    `--reporter=${reporter}`,
  ],
  hasTests: true,
});

/** @typedef {{ name: string, command: string[], hasTests?: boolean, env?: NodeJS.ProcessEnv }} Step */

/**
 * Runs the steps in order and sets the exit code. The steps of an array run side by side; their results are shown in order.
 * @param {(Step | Step[])[]} steps
 */
export async function runSteps(steps) {
  const total = emptyResult();
  for (const group of steps.map((each) => [each].flat())) {
    const running = group.map((step) => ({ step, execution: execute(step) }));
    for (const { step, execution } of running) {
      const result = await showStep(step, execution);
      total.passed += result.passed;
      total.skipped += result.skipped;
      total.failed.push(...result.failed);
      for (const reason of result.reasons) total.reasons.add(reason);
    }
  }
  for (const reason of total.reasons) console.log(`skipped: ${reason}`);
  for (const name of total.failed) console.log(`failed: ${name}`);
  if (total.failed.length > 0) process.exitCode = 1;
  console.log(`${total.passed} passed, ${total.failed.length} failed, ${total.skipped} skipped`);
}

/** @returns {{ passed: number, failed: string[], skipped: number, reasons: Set<string> }} */
function emptyResult() {
  return { passed: 0, failed: [], skipped: 0, reasons: new Set() };
}

async function showStep({ name, command, hasTests = false }, execution) {
  const running = new Set();
  const result = emptyResult();
  const counts = () => `${result.passed} passed, ${result.failed.length} failed, ${result.skipped} skipped`;
  let [files, done, hasEnded] = [0, 0, false];
  const progress = showProgress(
    name,
    () => (hasTests ? `${done}/${files} files, ${counts()}; running ${[...running].join(' ')}` : ''),
    { start: execution.start },
  );
  execution.child.on('message', (message) => {
    switch (message.type) {
      case 'start':
        files = message.files;
        break;
      case 'file-start':
        running.add(message.file);
        break;
      case 'file-end':
        done++;
        running.delete(message.file);
        addFile(result, message);
        printFile(progress, `${String(done).padStart(String(files).length)}/${files}`, message);
        break;
      case 'skip-reason':
        result.reasons.add(message.reason);
        break;
      case 'end':
        hasEnded = message.errors === 0;
        break;
    }
  });
  const { code, output, end } = await execution.ended;
  // A step without tests, or one that failed outside of a test, counts as one failure.
  if (result.failed.length === 0 && (code !== 0 || hasTests !== hasEnded)) result.failed.push(name);
  const isGood = result.failed.length === 0;
  progress.end(`${isGood ? 'ok' : 'FAILED'}${hasTests ? `, ${counts()}` : ''}`, end);
  if (!isGood) process.stdout.write(`\n$ ${command.join(' ')}\n${output}\n`);
  return result;
}

function addFile(result, { file, passed, failed, skipped }) {
  result.passed += passed;
  result.failed.push(...failed.map((title) => `${file}: ${title}`));
  result.skipped += skipped.length;
  const more = skipped.length > 1 ? ` and ${skipped.length - 1} more` : '';
  if (skipped.length > 0) result.reasons.add(`${file}: ${skipped[0]}${more}`);
}

function printFile(progress, position, { file, milliseconds, passed, failed, skipped, reasons }) {
  const counts = [
    `${passed} passed`,
    ...(failed.length > 0 ? [`${failed.length} FAILED`] : []),
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
  ].join(', ');
  const line = `${position}  ${file}  ${counts}, ${formatDuration(milliseconds)}`;
  if (failed.length === 0) return progress.printUnlessLive(line);
  progress.print(line);
  for (const reason of reasons) progress.print(`failed: ${file}: ${reason}`);
}

/** Processes of the running steps. Each has a group of its own, so that its workers and their servers end with it. */
const children = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.once(signal, () => {
    for (const { pid } of children) endGroup(pid, signal);
    process.exit(signal === 'SIGINT' ? 130 : 143);
  });

/**
 * Starts the command of a step and collects its output.
 * @param {Step} step
 */
function execute({ command: [command, ...args], hasTests = false, env = process.env }) {
  const start = performance.now();
  const stdio = ['ignore', 'pipe', 'pipe', ...(hasTests ? ['ipc'] : [])];
  const child = spawn(command, args, { stdio, env, detached: process.platform !== 'win32' });
  children.add(child);
  let output = '';
  const add = (text) => {
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', add);
  child.stderr.setEncoding('utf8').on('data', add);
  const ended = new Promise((resolve) => {
    const finish = (code, more = '') => {
      children.delete(child);
      resolve({ code, output: `${output}${more}`, end: performance.now() });
    };
    child.on('error', (error) => finish(1, error.message));
    child.on('close', (code) => finish(code));
  });
  return { start, child, ended };
}

/** Sends a signal to all processes of a group; it may have ended. */
function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch {}
}
