import type { ChildProcess } from 'node:child_process';

/** Characters of output that are searched. */
const maxOutput = 100_000;

/** Resolves when a process writes a text to standard error. Rejects with its output if it exits before. */
export function waitForErrorOutput(child: ChildProcess, text: string, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (output.length > maxOutput) return;
      output += chunk.toString();
      if (output.includes(text)) resolve();
    });
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}: ${output}`)));
  });
}
