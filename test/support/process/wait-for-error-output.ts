import type { ChildProcess } from 'node:child_process';

/** Characters of output that are kept for an error. */
const keptOutput = 10_000;

/** Resolves when a process writes a text to standard error. Rejects with its last output if it exits before. */
export function waitForErrorOutput(child: ChildProcess, text: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      // A server may write any number of lines about rejected clients before the text.
      output = output.slice(-keptOutput) + chunk.toString();
      if (output.includes(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${output}`)));
  });
}
