// How long `dragoman --version` and the help of one command take, beside a Node that does nothing.
//
//   npm run build && node bench/startup.mjs
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

const times = new Map(Object.keys(programs).map((name) => [name, []]));
// In turns, so that whatever else the machine does is everybody's.
for (let round = 0; round < rounds; round++)
  for (const [name, args] of Object.entries(programs)) {
    const began = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${name} ended with ${status}`);
    times.get(name).push(performance.now() - began);
  }

const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const least = median(times.get('node -e 0'));
for (const [name, list] of times) {
  const value = median(list);
  console.log(
    `${name.padEnd(22)} ${value.toFixed(0).padStart(5)} ms   ${(value / least).toFixed(2)} × node   +${(value - least).toFixed(0)} ms`,
  );
}
