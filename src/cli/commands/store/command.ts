import type { Command } from 'commander';
import { outputOption } from '../../inputs/shared-options.ts';
import type { StoreCheckFlags } from './check.ts';
import type { StoreMigrateFlags } from './migrate.ts';
import type { StoreStatusFlags } from './status.ts';

const examples = `
Examples:
  $ dragoman store status postgres://agent@db.example/agents
  $ dragoman store migrate postgres://owner@db.example/agents --grant agent
  $ dragoman store check tasks.db
  $ dragoman store check tasks.db --repair`;

const checkNotes = `
Exits with 0 if there is no damage or all damaged rows were moved, with 1 if there is damage, and with 2 on usage errors.
--repair moves damaged tasks to tables named quarantined_…; stop the agent first and copy the file.`;

const statusNotes = `
Shows the replicas with the age of their last heartbeat and the tasks that they hold, tasks by state, and undelivered push
notifications. A replica whose lease has ended is listed until others have taken its tasks over.`;

const migrateNotes = `
Every replica creates and upgrades the schema when it starts. This command is for databases in which the user of the
replicas may not create tables: run it as another user before the first start and before an upgrade. --grant gives the user
of the replicas the rights that they need.`;

/** Adds `dragoman store`. */
export function addStore(program: Command): void {
  const store = program
    .command('store')
    .description('Inspect, migrate and check task stores.')
    .addHelpText('after', examples);
  store
    .command('status')
    .description('Show the replicas, tasks and push backlog of a task store.')
    .argument('<store>', 'task store: sqlite:FILE or postgres://USER@HOST/DATABASE')
    .addOption(outputOption())
    .addHelpText('after', `${statusNotes}\n${examples}`)
    .action(async (url: string, flags: StoreStatusFlags) =>
      (await import('./status.ts')).runStoreStatusCommand(url, flags),
    );
  store
    .command('migrate')
    .description('Create the tables of a task store, or upgrade them.')
    .argument('<store>', 'task store: sqlite:FILE or postgres://USER@HOST/DATABASE')
    .option('--grant <role>', 'user of PostgreSQL that replicas connect as; gets the rights that they need')
    .option('--agent-name <name>', 'name of the agent that the store belongs to from now on, after a rename')
    .addOption(outputOption())
    .addHelpText('after', `${migrateNotes}\n${examples}`)
    .action(async (url: string, flags: StoreMigrateFlags) =>
      (await import('./migrate.ts')).runStoreMigrateCommand(url, flags),
    );
  store
    .command('check')
    .description('Find damaged rows in a task store file.')
    .argument('<file>', 'SQLite file of a task store')
    .option('--repair', 'move damaged rows to quarantine tables', false)
    .addOption(outputOption())
    .addHelpText('after', `${checkNotes}\n${examples}`)
    .action(async (file: string, flags: StoreCheckFlags) =>
      (await import('./check.ts')).runStoreCheckCommand(file, flags),
    );
}
