import { type Command, Option } from 'commander';
import type { InitFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman init
  $ dragoman init weather-agent --yes
  $ dragoman init . --yes

It writes an agent, a scenario that tests it, and a workflow that runs the scenario and the conformance suite. Files
that are there are never written over: then nothing is written, and it says which.`;

/** Declares the command that begins a project. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('Begins an agent project: an agent, a scenario and a file for continuous integration.')
    .argument(
      '[folder]',
      'where to; its name becomes that of the project (default: my-agent, or what you say)',
    )
    .option('-y, --yes', 'ask nothing')
    .addOption(new Option('-o, --output <form>', 'how to print').choices(['text', 'json']).default('text'))
    .addHelpText('after', examples)
    .action(async (folder: string | undefined, flags: InitFlags) => {
      const { runInitCommand: init } = await import('./run.ts');
      await init(folder, flags);
    });
}
