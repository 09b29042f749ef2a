import { type Command } from 'commander';
import { headerOption, outputOption, portOption, sessionsOption } from '../../inputs/shared-options.ts';
import type { ConsoleFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman console
  $ dragoman console http://localhost:4000 https://agents.example.com/echo
  $ dragoman console http://localhost:4000 -H 'Authorization: Bearer …'
  $ dragoman console http://localhost:4000 --store sqlite:tasks.db
  $ dragoman console --sessions off

The console listens on the loopback address only and requires the token of the printed URL.`;

/** Adds `dragoman console`. */
export function addConsole(program: Command): void {
  program
    .command('console')
    .description('Open the web console: agent cards, chat, traffic, tasks, conformance and load.')
    .argument('[urls...]', 'URLs of agents; more can be added in the page')
    .addOption(portOption(4010))
    .option('--token <text>', 'access token of the console page (default: random)')
    .addOption(headerOption())
    .option(
      '--store <store>',
      'task store: sqlite:FILE or postgres://…; shows its undelivered push notifications and, with PostgreSQL, the replicas that hold tasks',
    )
    .addOption(sessionsOption())
    .option('--open', 'open the page in the browser', false)
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (urls: string[], flags: Omit<ConsoleFlags, 'mayMovePort'>, command: Command) =>
      (await import('./run.ts')).runConsoleCommand(urls, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      }),
    );
}
