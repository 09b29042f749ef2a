import { type Command, Option } from 'commander';
import { outputOption } from '../../inputs/shared-options.ts';
import type { InitFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman init
  $ dragoman init weather-agent --yes
  $ dragoman init weather-agent --ts
  $ dragoman init --template ai-sdk
  $ dragoman init . --yes

Creates an agent, a scenario that tests it, and a CI workflow that runs the scenario and the conformance suite. Existing
files are never overwritten: if one of the files exists, nothing is written. A package.json that exists gets the
dependencies and the scripts agent:start, agent:test and agent:conformance.`;

/** Adds `dragoman init`. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('Create an agent project with a scenario test and a CI workflow.')
    .argument(
      '[directory]',
      'directory of the project; its name becomes the project name (default: my-agent)',
    )
    .option('-y, --yes', 'use the defaults without prompting')
    .option('--ts', 'write the agent in TypeScript')
    .addOption(
      new Option('--template <template>', 'echo, without a model, or ai-sdk, with a language model')
        .choices(['echo', 'ai-sdk'])
        .default('echo'),
    )
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (directory: string | undefined, flags: InitFlags) =>
      (await import('./run.ts')).runInitCommand(directory, flags),
    );
}
