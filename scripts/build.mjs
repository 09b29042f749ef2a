// Compiles src/ and the console page to dist/, makes the command executable and links it into node_modules/.bin.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { resolve } from 'node:path';

const compiler = 'node_modules/ts7/bin/tsc';
if (!existsSync(compiler)) {
  // An installation from git without dev dependencies has no compiler.
  console.error(
    'dragoman: the TypeScript compiler is not installed; run `npm ci` in a full checkout to build.',
  );
  process.exit(existsSync('dist') ? 0 : 1);
}
// Builds into another folder and swaps it, so that running processes keep a complete dist/ and a failed build changes nothing.
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
      // A concurrent build finished first; the newer one wins.
      if (attempt === 5) throw error;
    }
  }
}
