// Compiles src/ to dist/ and makes the command executable and reachable from node_modules/.bin of this checkout.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';

const compiler = 'node_modules/ts7/bin/tsc';
if (!existsSync(compiler)) {
  // A consumer who installs from git without dev dependencies has nothing to compile with.
  console.error(
    'dragoman: the TypeScript compiler is not installed; run `npm ci` in a full checkout to build.',
  );
  process.exit(existsSync('dist') ? 0 : 1);
}
rmSync('dist', { recursive: true, force: true });
const built = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], { stdio: 'inherit' });
if (built.status !== 0) process.exit(built.status ?? 1);
if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755);
mkdirSync('node_modules/.bin', { recursive: true });
rmSync('node_modules/.bin/dragoman', { force: true });
symlinkSync('../../dist/cli/main.js', 'node_modules/.bin/dragoman');
