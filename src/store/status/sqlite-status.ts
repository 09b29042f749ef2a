import { existsSync } from 'node:fs';
import { A2AError } from '../../protocol/errors.ts';
import { type Database, openDatabase } from '../sqlite/database.ts';
import { readSchemaVersion } from '../sqlite/schema.ts';
import type { StoreStatus } from './store-status.ts';

/** Reads the state of a store in a SQLite file. */
export async function readSqliteStatus(file: string): Promise<StoreStatus> {
  // Opening a missing file would create it.
  if (!existsSync(file)) throw missingFile(file);
  const database = await openDatabase(file);
  try {
    database.exec('pragma busy_timeout = 5000');
    const schemaVersion = readSchemaVersion(database);
    if (schemaVersion === 0) throw missingFile(file);
    const rows = (text: string) => database.prepare(text).all([]);
    const hasHolders = hasTable(database, 'holders');
    const unfinished = `t.state in ('submitted', 'working')`;
    const tasks = rows('select state, sum(n) as n from counts group by state having sum(n) > 0');
    const now = Date.now();
    const replicas = rows('select * from lease order by since').map((row) => {
      const lease = Number(row['timeout']);
      const heartbeatAge = Math.max(0, now - Number(row['heartbeat_at']));
      const holding = database.prepare(
        hasHolders && Number(row['shared']) === 1
          ? `select count(*) as n from holders h join tasks t on t.key = h.task where h.token = ? and ${unfinished}`
          : `select count(*) as n from tasks t where ${unfinished} and ? is not null`,
      );
      return {
        name: `${String(row['host'])} ${String(row['pid'])}`,
        version: undefined,
        since: new Date(Number(row['since'])).toISOString(),
        heartbeatAge,
        lease,
        isAlive: heartbeatAge < lease,
        heldTasks: Number(holding.get([String(row['token'])])?.['n'] ?? 0),
      };
    });
    const held = replicas.reduce((sum, { isAlive, heldTasks }) => sum + (isAlive ? heldTasks : 0), 0);
    const [open] = rows(`select count(*) as n from tasks t where ${unfinished}`);
    const [push] = rows(
      `select count(*) as webhooks, coalesce(sum(t.sequence - p.delivered), 0) as undelivered,
        coalesce(sum(p.last_error like '%"deadSince":%'), 0) as dead
      from push_configs p join tasks t on t.key = p.task where p.finished = 0`,
    );
    return {
      schemaVersion,
      replicas,
      tasks: Object.fromEntries(tasks.map(({ state, n }) => [String(state), Number(n)])),
      orphanedTasks: Math.max(0, Number(open?.['n'] ?? 0) - held),
      push: {
        webhooks: Number(push?.['webhooks'] ?? 0),
        undelivered: Number(push?.['undelivered'] ?? 0),
        dead: Number(push?.['dead'] ?? 0),
      },
    };
  } finally {
    database.close();
  }
}

function hasTable(database: Database, name: string): boolean {
  const text = `select 1 as n from sqlite_schema where type = 'table' and name = ?`;
  return database.prepare(text).get([name]) !== undefined;
}

function missingFile(file: string): A2AError {
  return new A2AError('NOT_FOUND', `There is no task store in ${file}`, {
    hint: 'Name the file that the agent is served with, or create one with dragoman store migrate.',
  });
}
