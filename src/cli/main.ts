#!/usr/bin/env node
import { packageVersion } from '../primitives/node/package-version.ts';

// EPIPE is not an error: `dragoman … | head` closes the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const words = process.argv.slice(2);
// `--version` alone does not load commander.
if (/^(-v|--version)$/.test(words[0] ?? '')) process.stdout.write(`${packageVersion()}\n`);
else await (await import('./run-program.ts')).runProgram(words);
