import type { TaskStore } from '../task-store.ts';
import type { SqliteTaskStoreOptions } from '../sqlite.ts';
import type { PostgresTaskStoreOptions } from '../postgres.ts';
import type { StoreUrl } from './parse-store-url.ts';

/** Options of {@link openTaskStore}. Those that a store does not have are ignored. */
export type OpenTaskStoreOptions = Pick<
  SqliteTaskStoreOptions,
  'withoutLease' | 'onLeaseLost' | 'onOutage' | 'onDamage'
> &
  Pick<PostgresTaskStoreOptions, 'onWakeUps'>;

/** Opens the task store at a URL. */
export async function openTaskStore(url: StoreUrl, options: OpenTaskStoreOptions = {}): Promise<TaskStore> {
  const { onWakeUps, ...sqliteOptions } = options;
  switch (url.kind) {
    case 'memory':
      return (await import('../memory-task-store.ts')).memoryTaskStore(url.limits);
    case 'sqlite': {
      const { file, shared, limits } = url;
      const { sqliteTaskStore } = await import('../sqlite.ts');
      return sqliteTaskStore({ file, shared, ...limits, ...sqliteOptions });
    }
    case 'postgres': {
      const { withoutLease, onOutage } = options;
      const { postgresTaskStore } = await import('../postgres.ts');
      return postgresTaskStore({ url: url.url, schema: url.schema, withoutLease, onOutage, onWakeUps });
    }
  }
}

/** Describes where the tasks of a store are, for example `in tasks.db`. */
export function describeStore(url: StoreUrl): string {
  if (url.kind === 'memory') return 'in memory, until this process stops';
  return `in ${url.kind === 'sqlite' ? url.file : url.location}`;
}
