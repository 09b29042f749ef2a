import type { Ledger } from '../../store/task-store.ts';
import type { SqliteLedgerOptions } from '../../store/sqlite.ts';
import { A2AError } from '../../protocol/errors.ts';
import { Mistake } from '../terminal/usage-error.ts';

/** A ledger as somebody asked for it, with words for where it is. */
export interface Store {
  ledger: Ledger;
  /** Such as `in memory`. */
  place: string;
}

/**
 * Opens the ledger that `--store` names.
 *
 * @throws {@link Mistake} when it names none, or one that is in use.
 */
export async function openStore(
  where: string,
  options: Pick<SqliteLedgerOptions, 'guest' | 'onLost'> = {},
): Promise<Store> {
  if (where === 'memory') {
    const { memoryLedger } = await import('../../store/memory-task-store.ts');
    return { ledger: memoryLedger(), place: 'in memory, until this stops' };
  }
  const [, file, mark] = /^sqlite:(.+?)(\?shared)?$/.exec(where) ?? [];
  if (file === undefined) {
    throw new Mistake(
      `"${where}" is no place for tasks`,
      'Say --store memory, or --store sqlite:FILE, as in --store sqlite:tasks.db.',
    );
  }
  const shared = mark !== undefined;
  const { sqliteLedger } = await import('../../store/sqlite.ts');
  try {
    return { ledger: await sqliteLedger({ file, shared, ...options }), place: `in ${file}` };
  } catch (thrown) {
    if (!(thrown instanceof A2AError) || thrown.reason !== 'CONFLICT') throw thrown;
    throw new Mistake(
      thrown.message,
      `${thrown.hint ?? ''} To share it, say --store sqlite:${file}?shared.`.trim(),
    );
  }
}
