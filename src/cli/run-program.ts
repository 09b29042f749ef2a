import { type Command, CommanderError } from 'commander';
import { printError, printUsageError } from './terminal/print-error.ts';
import { UsageError } from './terminal/usage-error.ts';
import { createProgram, isCommand } from './program.ts';

/**
 * Rewrites `help task get` to `task get --help`. For an unknown command it drops all flags, so that a mistyped command
 * with `--help` is reported instead of printing the general help.
 */
function normalizeArguments(words: readonly string[]): readonly string[] {
  const [first = '', ...rest] = words;
  const normalized = first === 'help' ? [...rest, '--help'] : words;
  const [command = ''] = normalized;
  return command === '' || command.startsWith('-') || isCommand(command) ? normalized : [command];
}

/** Returns the command as typed, such as `dragoman task get`, up to the last known subcommand. */
function commandPath(program: Command, words: readonly string[]): string {
  let command: Command | undefined = program;
  const path = [program.name()];
  for (const word of words) {
    command = command.commands.find((each) => each.name() === word);
    if (!command) break;
    path.push(word);
  }
  return path.join(' ');
}

/** Runs the command line. Exits with 2 on usage errors and with 1 on other errors. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const normalized = normalizeArguments(words);
  const program = await createProgram(normalized);
  try {
    await program.parseAsync(normalized, { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) {
      printError(thrown);
      process.exit(thrown instanceof UsageError ? 2 : 1);
    }
    // Help and version also end with a CommanderError, with exit code 0.
    process.exitCode = thrown.exitCode === 0 ? 0 : 2;
    if (thrown.exitCode !== 0) printUsageError(thrown, words, commandPath(program, normalized));
  }
}
