import { type Command, Option } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman config show
  $ dragoman config show --config staging.env -o json

It changes nothing: set environment variables, or write A2ACLI_NAME=value lines into a .env file.`;

/** Adds `dragoman config`. */
export function addConfig(program: Command): void {
  const config = program
    .command('config')
    .description('Looks at the configuration of the client commands.')
    .addHelpText('after', examples);
  const show = config.command('show').description('Shows each setting, and where its value comes from.');
  addClientFlags(show, ['waiting', 'async', 'identifiers', 'metadata'])
    .addOption(new Option('--client-id <id>', 'the id of this client for auth login').hideHelp())
    .addOption(new Option('--client-secret <secret>', 'its secret').hideHelp())
    .addHelpText('after', examples)
    .action(async () => {
      const { runConfigShowCommand: showConfig } = await import('./show.ts');
      await showConfig(show);
    });
}
