import { type Command, Option } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman config show
  $ dragoman config show --config staging.env -o json

To change a setting, set its environment variable or write A2ACLI_NAME=value to a .env file.`;

/** Adds `dragoman config`. */
export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .description('Inspect the configuration of the client commands.')
    .addHelpText('after', examples);
  const show = config.command('show').description('Print each setting with its source.');
  addClientFlags(show, ['waiting', 'async', 'identifiers', 'metadata'])
    .addOption(new Option('--client-id <id>', 'OAuth client ID (A2ACLI_CLIENT_ID)').hideHelp())
    .addOption(
      new Option('--client-secret <secret>', 'OAuth client secret; prefer A2ACLI_CLIENT_SECRET').hideHelp(),
    )
    .addHelpText('after', examples)
    .action(async () => (await import('./show.ts')).runConfigShowCommand(show));
}
