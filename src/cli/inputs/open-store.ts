import type { TaskStore } from '../../store/task-store.ts';
import type { SqliteTaskStoreOptions } from '../../store/sqlite.ts';
import { A2AError } from '../../protocol/errors.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A ledger as somebody asked for it, with words for where it is. */
export interface OpenedStore {
  ledger: TaskStore;
  /** Such as `in memory`. */
  place: string;
}

/**
 * Opens the ledger that `--store` names.
 *
 * @throws {@link UsageError} when it names none, or one that is in use.
 */
export async function openStore(
  where: string,
  options: Pick<SqliteTaskStoreOptions, 'withoutLease' | 'onLeaseLost'> = {},
): Promise<OpenedStore> {
  if (where === 'memory') {
    const { memoryTaskStore: memoryLedger } = await import('../../store/memory-task-store.ts');
    return { ledger: memoryLedger(), place: 'in memory, until this stops' };
  }
  const [, file, mark] = /^sqlite:(.+?)(\?shared)?$/.exec(where) ?? [];
  if (file === undefined) {
    throw new UsageError(
      `"${where}" is no place for tasks`,
      'Say --store memory, or --store sqlite:FILE, as in --store sqlite:tasks.db.',
    );
  }
  const shared = mark !== undefined;
  const { sqliteTaskStore: sqliteLedger } = await import('../../store/sqlite.ts');
  try {
    return { ledger: await sqliteLedger({ file, shared, ...options }), place: `in ${file}` };
  } catch (thrown) {
    if (!(thrown instanceof A2AError) || thrown.reason !== 'CONFLICT') throw thrown;
    throw new UsageError(
      thrown.message,
      `${thrown.hint ?? ''} To share it, say --store sqlite:${file}?shared.`.trim(),
    );
  }
}
