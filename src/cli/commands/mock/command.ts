import { type Command, InvalidArgumentError, Option } from 'commander';
import type { MockFlags } from './run.ts';
import { parsePort } from '../../inputs/parse-port.ts';

const examples = `
Examples:
  $ dragoman mock
  $ dragoman mock script.yaml --port 0 --watch
  $ dragoman mock script.yaml --clock virtual --seed 7
  $ dragoman mock script.yaml -o json | head -1
  $ dragoman mock validate scripts

Without a script the agent plays what messages say themselves ([test_case_id=…] and [responses_json=…]) and what
is put at /__admin/prime.`;

/** Declares the command that starts test agents. */
export function addMock(program: Command): void {
  const mock = program
    .command('mock')
    .description('Starts a test agent that does what a script, a message or a test says.')
    .argument('[script]', 'the YAML file with its rules')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(parsePort).default(0),
    )
    .option('--host <address>', 'the address to listen on; 0.0.0.0 to be reached from elsewhere', '127.0.0.1')
    .option('--base-path <path>', 'the path the agent is served below; the card stays at the root as well')
    .addOption(
      new Option('--seed <number>', 'what chance begins with (default: as the script says)').argParser(
        wholeOf,
      ),
    )
    .addOption(
      new Option('--clock <kind>', 'what the time is (default: as the script says)').choices([
        'system',
        'virtual',
      ]),
    )
    .option('--admin <address...>', 'who may use /__admin beside this machine: addresses, or * for everybody')
    .option('--no-admin', 'show no /__admin')
    .option('--watch', 'read the script again whenever it changes')
    .addOption(
      new Option('-o, --output <form>', 'what to print once it listens')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', examples)
    .action(async (script: string | undefined, flags: MockFlags) => {
      const { runMockCommand: run } = await import('./run.ts');
      await run(script, flags);
    });
  mock
    .command('validate')
    .description('Says what is wrong with scripts, with line and column.')
    .argument('<files...>', 'YAML files, folders of them, or patterns with *, ?, ** and {a,b}')
    .addHelpText(
      'after',
      '\nExamples:\n  $ dragoman mock validate scripts\n  $ dragoman mock validate travel.yaml',
    )
    .action(async (files: string[]) => {
      const { runMockValidateCommand: validateScripts } = await import('./run.ts');
      await validateScripts(files);
    });
}

function wholeOf(text: string): number {
  if (/^\d+$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new InvalidArgumentError('A seed is a whole number.');
}
