import type { Command } from 'commander';
import { addClientFlags } from '../../client/flags.ts';

const examples = `
Examples:
  $ dragoman card get -a http://localhost:4000
  $ dragoman card get -a https://agents.example.com/cards/echo.json --validate
  $ dragoman card get -a ./agent-card.json -o json
  $ A2ACLI_BEARER=… dragoman card get -a agents.example.com --extended`;

/** Adds `dragoman card`. */
export function addCard(program: Command): void {
  const card = program.command('card').description('Looks at agent cards.').addHelpText('after', examples);
  const get = card
    .command('get')
    .description('Fetches the card of an agent and says what is in it.')
    .option('--validate', 'say what is wrong with it; ends with 1 when something is')
    .option('--extended', 'fetch the card for callers that are known');
  addClientFlags(get)
    .addHelpText('after', examples)
    .action(async (flags: { validate?: boolean; extended?: boolean }) => {
      const { runCardGetCommand: getCard } = await import('./run.ts');
      await getCard(get, flags);
    });
}
