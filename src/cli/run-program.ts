import { CommanderError } from 'commander';
import { complain, Mistake } from './mistake.ts';
import { programFor } from './program.ts';

/** Does what was typed, and says with the exit code what became of it. */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    const program = await programFor(words);
    await program.parseAsync(words, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      complain(thrown);
      process.exit(thrown instanceof Mistake ? 2 : 1);
    }
    // Help and version are no mistakes; commander has said everything else already.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    if (thrown.exitCode !== 0) (await import('./usage.ts')).tellUsage(words, thrown.message);
  }
}
