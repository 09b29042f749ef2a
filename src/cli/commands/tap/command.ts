import { type Command, Option } from 'commander';
import { parsePort } from '../../inputs/parse-port.ts';
import type { TapFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman tap --to http://localhost:4000
  $ dragoman tap --to https://agents.example.com/echo --port 4100 --file talk.jsonl
  $ dragoman tap --to http://localhost:4000 --console
  $ dragoman tap --read talk.jsonl
  $ dragoman tap --read talk.jsonl -o scenario > scenario.yaml

Callers use the address that is printed instead of the agent's; everything else stays as it is. Credentials pass, but
are not kept. A file can be opened in the console as well.`;

/** Declares the command that shows what passes between two agents. */
export function addTap(program: Command): void {
  program
    .command('tap')
    .description('Stands between two agents and shows everything that passes, in every version.')
    .option('--to <url>', 'the agent to stand in front of')
    .addOption(
      new Option('-p, --port <number>', 'the port; 0 for any free one').argParser(parsePort).default(0),
    )
    .option('--host <address>', 'the address to listen on; 0.0.0.0 to be reached from elsewhere', '127.0.0.1')
    .option('--file <file>', 'write everything down there as well; what is there already stays')
    .option('--read <file>', 'show what a file holds, instead')
    .option('--console', 'show it in the console as well', false)
    .addOption(
      new Option('-o, --output <form>', 'how to print; scenario is for --read')
        .choices(['text', 'json', 'scenario'])
        .default('text'),
    )
    .addHelpText('after', examples)
    .action(async (flags: TapFlags) => {
      const { runTapCommand: tap } = await import('./run.ts');
      await tap(flags);
    });
}
