import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { waitForErrorOutput } from './wait-for-error-output.ts';

const run = (script: string) =>
  spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'pipe'] });

it('finds a text after any amount of other output', async () => {
  const child = run(`process.stderr.write('starting up\\n'.repeat(50_000) + 'server is ready\\n')`);
  await expect(waitForErrorOutput(child, 'server is ready', 'It')).resolves.toBeUndefined();
});

it('rejects with the last output if the process ends before', async () => {
  const child = run(`process.stderr.write('no room\\n', () => process.exit(3))`);
  await expect(waitForErrorOutput(child, 'server is ready', 'It')).rejects.toThrow(
    'It ended with 3: no room',
  );
});
