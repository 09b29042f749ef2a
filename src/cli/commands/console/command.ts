import { type Command, Option } from 'commander';
import type { ConsoleFlags } from './run.ts';
import { collectValues } from '../../inputs/option-types.ts';
import { parsePort } from '../../inputs/parse-port.ts';

const examples = `
Examples:
  $ dragoman console
  $ dragoman console http://localhost:4000 https://agents.example.com/echo
  $ dragoman console http://localhost:4000 -H 'Authorization: Bearer …'
  $ dragoman console http://localhost:4000 --store sqlite:tasks.db

It is reached from this machine alone, and only with the token in the address that is printed.`;

/** Declares the command that shows the console. */
export function addConsole(program: Command): void {
  program
    .command('console')
    .description('Shows agents in a browser: their cards, a chat, the wire, tasks, conformance and load.')
    .argument('[url...]', 'the agents to begin with; more can be added in the page')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(parsePort).default(4010),
    )
    .option('--token <text>', 'what the page proves itself with (default: random)')
    .option(
      '-H, --header <header>',
      "sent to these agents, 'Name: value'; several are possible",
      collectValues,
      [],
    )
    .option('--store <where>', 'shows push notifications that did not arrive, of the tasks in sqlite:FILE')
    .option('--open', 'open it in the browser', false)
    .addOption(
      new Option('-o, --output <form>', 'what to print once it runs')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addHelpText('after', examples)
    .action(async (urls: string[], flags: Omit<ConsoleFlags, 'mayMovePort'>, command: Command) => {
      const { runConsoleCommand: showConsole } = await import('./run.ts');
      await showConsole(urls, {
        ...flags,
        mayMovePort: command.getOptionValueSource('port') === 'default',
      });
    });
}
