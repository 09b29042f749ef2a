// npm run test:node -- 24: runs the unit, contract and package tests with another version of Node.
// Installs Node from the npm registry into the cache folder of the user; the repository stays as it is.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runSteps, vitestStep } from './test/run-steps.mjs';

const [version = ''] = process.argv.slice(2);
if (!/^\d+(\.\d+){0,2}$/.test(version)) {
  console.error('error: Missing or invalid version of Node\nhint: Run npm run test:node -- 24.');
  process.exit(2);
}
const node = installNode(version);
const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
console.log(`Node ${stdout.trim()}: ${node}`);
// Programs that the tests start by name, such as npm, run with this Node too.
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` };
await runSteps([
  { name: 'build', command: [process.execPath, 'scripts/build.mjs', '--if-stale'] },
  { ...vitestStep('unit', ['--project=first', 'src/'], node), env },
  { ...vitestStep('contracts', ['--project=first', 'test/contracts/'], node), env },
  { ...vitestStep('package', ['--project=first', 'test/package/'], node), env },
]);

/** Installs a version of Node unless it is cached. @returns the path of its executable. */
function installNode(wanted) {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const name = `node-${platform}-${process.arch}`;
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'dragoman', `node-${wanted}`);
  const path = join(folder, 'node_modules', name, 'bin', platform === 'win' ? 'node.exe' : 'node');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  console.log(`installing ${name}@${wanted} in ${folder}`);
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-save', `${name}@${wanted}`];
  const { status } = spawnSync('npm', args, { stdio: 'inherit', shell: platform === 'win' });
  if (status !== 0 || !existsSync(path)) {
    console.error(`error: Cannot install ${name}@${wanted}`);
    process.exit(1);
  }
  return path;
}
