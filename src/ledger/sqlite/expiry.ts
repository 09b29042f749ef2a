import { isTerminal, taskStates } from '../../protocol/task.ts';
import { fromColumn } from './column-text.ts';
import type { Database, Row } from './database.ts';

/** How many tasks are looked at in one transaction, so that others may write in between. */
const batch = 500;

const terminal = taskStates.filter(isTerminal);

/**
 * Deletes finished tasks whose last status is older than a moment.
 *
 * @param forget - is told of every one that is gone.
 */
export function expire(
  database: Database,
  before: number,
  forget: (owner: string, id: string) => void,
): number {
  const old = database.prepare(
    `select key, id, state, touched from tasks
     where owner = ? and touched > ? and touched < ? order by touched limit ${batch}`,
  );
  const newest = database.prepare(
    'select touched from tasks where owner = ? and changed_at >= ? order by touched limit 1',
  );
  let gone = 0;
  for (const { key, name } of database.prepare('select key, name from owners').all([])) {
    // Places and moments grow together, so whatever is old enough stands before the first that is not.
    let after = -1;
    const end = Number(newest.get([key ?? 0, before])?.['touched'] ?? Number.MAX_SAFE_INTEGER);
    for (;;) {
      const rows = old.all([key ?? 0, after, end]);
      if (rows.length === 0) break;
      after = Number(rows.at(-1)?.['touched']);
      const finished = rows.filter(({ state }) => terminal.some((each) => each === state));
      if (finished.length > 0) remove(database, Number(key), finished);
      for (const { id } of finished) forget(fromColumn(name), fromColumn(id));
      gone += finished.length;
      if (rows.length < batch) break;
    }
  }
  return gone;
}

function remove(database: Database, owner: number, rows: readonly Row[]): void {
  const removals = ['tasks where key', 'texts where task', 'push_configs where task'].map((what) =>
    database.prepare(`delete from ${what} = ?`),
  );
  const count = database.prepare('update counts set n = n - 1 where owner = ? and state = ?');
  database.exec('begin immediate');
  try {
    for (const { key, state } of rows) {
      // Another process may be doing the same.
      if (removals[0]?.run([key ?? 0]) !== 1) continue;
      for (const removal of removals.slice(1)) removal.run([key ?? 0]);
      count.run([owner, state ?? '']);
    }
    database.exec('commit');
  } catch (fault) {
    database.exec('rollback');
    throw fault;
  }
}
