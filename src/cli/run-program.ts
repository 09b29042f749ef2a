import { CommanderError } from 'commander';
import { printError, UsageError } from './terminal/usage-error.ts';
import { isCommand, createProgram } from './program.ts';

/**
 * What is asked for: `help task get` is `task get --help`, and for a command that is not there no flag is looked at, so
 * that whoever mistypes it is told so, rather than helped with everything.
 */
function askedOf(words: readonly string[]): readonly string[] {
  const [first = '', ...rest] = words;
  const asked = first === 'help' ? [...rest, '--help'] : words;
  const [command = ''] = asked;
  return command === '' || command.startsWith('-') || isCommand(command) ? asked : [command];
}

/** Does what was typed, and says with the exit code what became of it. */
export async function runProgram(words: readonly string[]): Promise<void> {
  try {
    const asked = askedOf(words);
    const program = await createProgram(asked);
    await program.parseAsync(asked, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      printError(thrown);
      process.exit(thrown instanceof UsageError ? 2 : 1);
    }
    // Help and version are no mistakes; commander has said everything else already.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    if (thrown.exitCode !== 0)
      (await import('./terminal/print-usage-error.ts')).printUsageError(words, thrown.message);
  }
}
