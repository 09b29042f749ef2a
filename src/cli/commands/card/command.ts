import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman card get -a http://localhost:4000
  $ dragoman card get -a https://agents.example.com/cards/echo.json --validate
  $ dragoman card get -a ./agent-card.json -o json
  $ dragoman card list -a agents.example.com
  $ A2ACLI_BEARER=… dragoman card get -a agents.example.com --extended`;

/** Adds `dragoman card`. */
export function addCard(program: Command): void {
  const card = program.command('card').description('Inspect agent cards.').addHelpText('after', examples);
  const get = card
    .command('get')
    .description('Fetch and print an agent card.')
    .option('--validate', 'validate the card against the A2A schema; exits with 1 if it is invalid')
    .option('--extended', 'fetch the extended card for authenticated clients');
  addClientFlags(get)
    .addHelpText('after', examples)
    .action(async (flags: { validate?: boolean; extended?: boolean }) =>
      (await import('./run.ts')).runCardGetCommand(get, flags),
    );
  const list = card.command('list').description('List the agents in the catalog of a host.');
  addClientFlags(list)
    .addHelpText('after', examples)
    .action(async () => (await import('./list.ts')).runCardListCommand(list));
}
