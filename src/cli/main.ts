#!/usr/bin/env node
import { packageVersion } from '../documents/package-version.ts';

// Whoever reads the first lines only, as `| head` does, has not made a mistake.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const words = process.argv.slice(2);
// Whoever asks for the version alone does not wait for the rest.
if (/^(-v|--version)$/.test(words[0] ?? '')) process.stdout.write(`${packageVersion()}\n`);
else await (await import('./run-program.ts')).runProgram(words);
