import { migrateStore } from '../../../store/status/migrate-store.ts';
import { rejectMemory } from '../../inputs/open-store.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of `dragoman store migrate`. */
export interface StoreMigrateFlags {
  grant?: string;
  agentName?: string;
  output: OutputFormat;
}

/** Runs `dragoman store migrate`. */
export async function runStoreMigrateCommand(
  store: string,
  { grant, agentName, output }: StoreMigrateFlags,
): Promise<void> {
  const url = rejectMemory(store);
  if (url.kind === 'sqlite' && grant !== undefined)
    throw new UsageError('--grant has no effect on a file', 'Omit it, or name a PostgreSQL database.');
  const migration = await migrateStore(url, { role: grant, agent: agentName });
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(migration, null, 2)}\n`);
    return;
  }
  const { from, to, steps } = migration;
  const result = from === to ? `The schema has version ${to} already` : `The schema has version ${to} now`;
  process.stdout.write([...steps.map((step) => `- ${step}`), `${result}.`, ''].join('\n'));
}
