// Compiles src/ to dist/ and the page of the console with it, and makes the command executable and reachable from node_modules/.bin of this checkout.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { resolve } from 'node:path';

const compiler = 'node_modules/ts7/bin/tsc';
if (!existsSync(compiler)) {
  // A consumer who installs from git without dev dependencies has nothing to compile with.
  console.error(
    'dragoman: the TypeScript compiler is not installed; run `npm ci` in a full checkout to build.',
  );
  process.exit(existsSync('dist') ? 0 : 1);
}
// Built aside and swapped, so that whatever runs from dist/ meanwhile finds all of it, and a failure breaks nothing.
const aside = `node_modules/.cache/dragoman/${process.pid}`;
rmSync(aside, { recursive: true, force: true });
const built = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', aside], {
  stdio: 'inherit',
});
if (built.status !== 0) {
  rmSync(aside, { recursive: true, force: true });
  process.exit(built.status ?? 1);
}
chmodSync(`${aside}/cli/main.js`, 0o755);
const { build } = await import('vite');
await build({
  configFile: 'console/vite.config.ts',
  logLevel: 'warn',
  build: { outDir: resolve(aside, 'console/page') },
});
swap(aside, 'dist');
await import('./schemas.mjs');
mkdirSync('node_modules/.bin', { recursive: true });
rmSync('node_modules/.bin/dragoman', { force: true });
symlinkSync('../../dist/cli/main.js', 'node_modules/.bin/dragoman');

function swap(from, to) {
  for (let attempt = 1; ; attempt++) {
    try {
      rmSync(to, { recursive: true, force: true });
      renameSync(from, to);
      return;
    } catch (error) {
      // Another build was faster; the newer one wins.
      if (attempt === 5) throw error;
    }
  }
}
