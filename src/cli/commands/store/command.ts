import type { Command } from 'commander';
import { outputOption } from '../../inputs/shared-options.ts';
import type { StoreCheckFlags } from './run.ts';

const examples = `
Examples:
  $ dragoman store check tasks.db
  $ dragoman store check tasks.db --repair

Exits with 0 if there is no damage or all damaged rows were moved, with 1 if there is damage, and with 2 on usage errors.
--repair moves damaged tasks to tables named quarantined_…; stop the agent first and copy the file.`;

/** Adds `dragoman store`. */
export function addStore(program: Command): void {
  const store = program
    .command('store')
    .description('Check task store files.')
    .addHelpText('after', examples);
  store
    .command('check')
    .description('Find damaged rows in a task store file.')
    .argument('<file>', 'SQLite file of a task store')
    .option('--repair', 'move damaged rows to quarantine tables', false)
    .addOption(outputOption())
    .addHelpText('after', examples)
    .action(async (file: string, flags: StoreCheckFlags) =>
      (await import('./run.ts')).runStoreCheckCommand(file, flags),
    );
}
