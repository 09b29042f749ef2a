// Start-up time of `dragoman --version` and help relative to an empty Node process: `npm run bench -- startup`.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const rounds = 15;
const programs = {
  'node -e 0': ['-e', '0'],
  'dragoman --version': [main, '--version'],
  'dragoman send --help': [main, 'send', '--help'],
  'dragoman --help': [main, '--help'],
};

/** Measures start-up times in milliseconds, interleaved so that other load affects all commands equally. */
export async function startup() {
  const rows = Object.keys(programs).map((name) => ({ name, times: [] }));
  for (let round = 0; round < rounds; round++)
    for (const { name, times } of rows) {
      // Lets the progress line appear.
      await new Promise((resolve) => setImmediate(resolve));
      const began = performance.now();
      const { status } = spawnSync(process.execPath, programs[name], { stdio: 'ignore' });
      if (status !== 0) throw new Error(`${name} ended with ${status}`);
      times.push(performance.now() - began);
    }
  return { rows };
}
