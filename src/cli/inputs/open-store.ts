import type { TaskStore } from '../../store/task-store.ts';
import type { SqliteTaskStoreOptions } from '../../store/sqlite.ts';
import type { PostgresTaskStoreOptions } from '../../store/postgres.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseStore } from './parse-store.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A task store with a description of its location. */
export interface OpenedStore {
  taskStore: TaskStore;
  /** For example `in tasks.db`. */
  location: string;
}

/** Options of {@link openStore}. */
type OpenStoreOptions = Pick<
  SqliteTaskStoreOptions,
  'withoutLease' | 'onLeaseLost' | 'onOutage' | 'onDamage'
> &
  Pick<PostgresTaskStoreOptions, 'onWakeUps'>;

/**
 * Opens the task store of `--store`.
 *
 * @throws {@link UsageError} if the value is invalid or the file is in use.
 */
export async function openStore(store: string, options: OpenStoreOptions = {}): Promise<OpenedStore> {
  const spec = parseStore(store);
  if (spec.kind === 'memory') {
    const { memoryTaskStore } = await import('../../store/memory-task-store.ts');
    return { taskStore: memoryTaskStore(spec.limits), location: 'in memory, until this process stops' };
  }
  const { onWakeUps, ...sqliteOptions } = options;
  if (spec.kind === 'postgres') {
    const { url, schema } = spec;
    const { withoutLease, onOutage } = options;
    const { postgresTaskStore } = await import('../../store/postgres.ts');
    return {
      taskStore: await postgresTaskStore({ url, schema, withoutLease, onOutage, onWakeUps }),
      location: `in ${spec.location}`,
    };
  }
  const { file, shared } = spec;
  const { sqliteTaskStore } = await import('../../store/sqlite.ts');
  try {
    return {
      taskStore: await sqliteTaskStore({ file, shared, ...spec.limits, ...sqliteOptions }),
      location: `in ${file}`,
    };
  } catch (thrown) {
    if (!(thrown instanceof A2AError) || thrown.reason !== 'CONFLICT') throw thrown;
    throw new UsageError(
      thrown.message,
      `${thrown.hint ?? ''} To share the file between processes, use --store sqlite:${file}?shared.`.trim(),
    );
  }
}

/**
 * Opens a task store that another process writes to, without taking its lease.
 *
 * @throws {@link UsageError} for a store in memory.
 */
export function openForeignStore(store: string): Promise<OpenedStore> {
  if (parseStore(store).kind !== 'memory') return openStore(store, { withoutLease: true });
  throw new UsageError(
    '--store memory cannot be read from another process',
    'Serve the agent with --store sqlite:FILE or postgres://… and name the same store here.',
  );
}
