// Compiles src/ and the console page to dist/, makes the command executable and links it into node_modules/.bin.
// With --if-stale it does nothing when dist/ was built from the same inputs.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { hashInputs } from './build/hash-inputs.mjs';

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

// Builds into another folder and swaps it, so that running processes keep a complete dist/ and a failed build changes nothing.
const output = `node_modules/.cache/dragoman/${process.pid}`;
rmSync(output, { recursive: true, force: true });
await step('compile src/', () => {
  const { status } = spawnSync(
    process.execPath,
    [compiler, '-p', 'tsconfig.build.json', '--outDir', output],
    {
      stdio: 'inherit',
    },
  );
  if (status === 0) return;
  rmSync(output, { recursive: true, force: true });
  process.exit(status ?? 1);
});
chmodSync(`${output}/cli/main.js`, 0o755);
await step('bundle the console page', async () => {
  const { build } = await import('vite');
  await build({
    configFile: 'console/vite.config.ts',
    logLevel: 'warn',
    build: { outDir: resolve(output, 'console/page') },
  });
});
writeFileSync(`${output}/${hashFile}`, hash);
swap(output, 'dist');
await import('./schemas.mjs');
linkCommand();

function builtHash() {
  return existsSync(`dist/${hashFile}`) ? readFileSync(`dist/${hashFile}`, 'utf8') : undefined;
}

/** Runs a step and prints its duration. */
async function step(name, work) {
  const start = performance.now();
  process.stdout.write(`build: ${name} … `);
  await work();
  process.stdout.write(`${((performance.now() - start) / 1000).toFixed(1)} s\n`);
}

function linkCommand() {
  mkdirSync('node_modules/.bin', { recursive: true });
  rmSync('node_modules/.bin/dragoman', { force: true });
  symlinkSync('../../dist/cli/main.js', 'node_modules/.bin/dragoman');
}

function swap(from, to) {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(to, { recursive: true, force: true });
      renameSync(from, to);
      return;
    } catch (error) {
      // A concurrent build finished first; the newer one wins.
      if (attempt === 5) throw error;
    }
  }
}
