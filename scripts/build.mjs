// Compiles src/ and the console page to dist/, makes the command executable and links it into node_modules/.bin.
// With --if-stale it does nothing when dist/ was built from the same inputs.
// It refuses to replace dist/ while a program runs from it, unless --force is given.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { hashInputs } from './build/hash-inputs.mjs';
import { processesUsing } from './build/processes-using.mjs';
import { replaceFolder } from './build/replace-folder.mjs';
import { showProgress } from './test/progress.mjs';

const compiler = 'node_modules/ts7/bin/tsc';
const hashFile = '.build-hash';
if (!existsSync(compiler)) {
  // An installation from git without dev dependencies has no compiler.
  console.error(
    'dragoman: the TypeScript compiler is not installed; run `npm ci` in a full checkout to build.',
  );
  process.exit(existsSync('dist') ? 0 : 1);
}
const hash = hashInputs();
if (process.argv.includes('--if-stale') && hash === builtHash()) {
  linkCommand();
  process.exit(0);
}

refuseIfUsed();

// Builds into another folder and swaps it, so that a failed build changes nothing.
const output = `node_modules/.cache/dragoman/${process.pid}`;
rmSync(output, { recursive: true, force: true });
await step('compile', async () => {
  const child = spawn(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', output], {
    stdio: 'inherit',
    // The compiler is written in Go: rare garbage collections save time for little memory.
    env: { GOGC: '400', ...process.env },
  });
  const [code] = await once(child, 'exit');
  if (code === 0) return;
  rmSync(output, { recursive: true, force: true });
  process.exit(code ?? 1);
});
chmodSync(`${output}/cli/main.js`, 0o755);
await step('page', async () => {
  const { build } = await import('vite');
  await build({
    configFile: 'console/vite.config.ts',
    logLevel: 'warn',
    build: { outDir: resolve(output, 'console/page') },
  });
});
writeFileSync(`${output}/${hashFile}`, hash);
refuseIfUsed();
replaceFolder(output, 'dist');
await import('./schemas.mjs');
linkCommand();

/** Ends the build if a program runs from dist/: it would load files of two versions. */
function refuseIfUsed() {
  if (process.argv.includes('--force')) return;
  const [user] = processesUsing('dist');
  if (user === undefined) return;
  rmSync(`node_modules/.cache/dragoman/${process.pid}`, { recursive: true, force: true });
  console.error(
    `error: dist/ is in use by process ${user.pid}: ${user.command}\n` +
      'hint: Stop it and build again, or replace dist/ anyway with npm run build -- --force.',
  );
  process.exit(1);
}

function builtHash() {
  return existsSync(`dist/${hashFile}`) ? readFileSync(`dist/${hashFile}`, 'utf8') : undefined;
}

/** Runs a step of the build and shows its progress. */
async function step(name, work) {
  const progress = showProgress(`build: ${name}`);
  await work();
  progress.end('done');
}

function linkCommand() {
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync('node_modules/.bin/dragoman', { force: true });
  symlinkSync('../../dist/cli/main.js', 'node_modules/.bin/dragoman');
}
