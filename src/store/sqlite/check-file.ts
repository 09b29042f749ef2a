import { isUtf8 } from 'node:buffer';
import { type Database, inTransaction, openDatabase } from './database.ts';
import { Lease } from './lease/lease.ts';
import { createSchema } from './schema.ts';

/** A damaged row of a task store file. */
interface DamagedRow {
  readonly table: string;
  readonly key: string;
  readonly problem: string;
}

/** Result of {@link checkSqliteFile}. */
export interface FileCheck {
  /** Rows that were read. */
  readonly rows: number;
  readonly damaged: readonly DamagedRow[];
  /** Errors of the file structure, as reported by SQLite. They cannot be repaired here. */
  readonly structure: readonly string[];
  /** True if the damaged rows were moved to the quarantine tables. */
  readonly isRepaired: boolean;
}

/** Key and text columns by table. */
const tables = [
  { name: 'owners', key: ['key'], texts: ['name'], json: [] },
  { name: 'tasks', key: ['key'], texts: ['id', 'context_id', 'message_id', 'state'], json: [] },
  { name: 'task_events', key: ['task', 'sequence'], texts: ['body'], json: ['body'] },
  {
    name: 'push_configs',
    key: ['position'],
    texts: ['id', 'body', 'last_error'],
    json: ['body', 'last_error'],
  },
] as const;

type Table = (typeof tables)[number];

/** Rows per query. */
const batchSize = 1_000;

/**
 * Checks a task store file: its structure, and that all text is UTF-8 and all documents are JSON.
 *
 * @param repair - moves damaged tasks and push configurations to tables named `quarantined_…`; requires the lease.
 */
export async function checkSqliteFile(file: string, repair = false): Promise<FileCheck> {
  const database = await openDatabase(file);
  try {
    database.exec('pragma busy_timeout = 5000');
    createSchema(database);
    const lease = repair ? new Lease(database, { file, timeout: 60_000 }) : undefined;
    try {
      const structure = checkStructure(database);
      let rows = 0;
      const damaged: DamagedRow[] = [];
      for (const table of tables) rows += checkTable(database, table, damaged);
      const isRepaired = repair && damaged.length > 0;
      if (isRepaired) inTransaction(database, () => quarantine(database, damaged));
      return { rows, damaged, structure, isRepaired };
    } finally {
      lease?.release();
    }
  } finally {
    database.close();
  }
}

function checkStructure(database: Database): string[] {
  return database
    .prepare('pragma integrity_check')
    .all([])
    .map((row) => String(row['integrity_check']))
    .filter((text) => text !== 'ok');
}

function checkTable(database: Database, { name, key, texts, json }: Table, damaged: DamagedRow[]): number {
  const columns = texts.map((column) => `cast(${column} as blob) as ${column}`).join(', ');
  const keys = key.join(', ');
  const select = database.prepare(
    `select ${keys}, ${columns} from ${name} where (${keys}) > (${key.map(() => '?').join(', ')})
     order by ${keys} limit ${batchSize}`,
  );
  let last: number[] = key.map(() => -1);
  for (let count = 0; ; ) {
    const rows = select.all(last);
    for (const row of rows) {
      last = key.map((column) => Number(row[column]));
      for (const column of texts) {
        const problem = findProblem(row[column], (json as readonly string[]).includes(column));
        if (problem === undefined) continue;
        damaged.push({ table: name, key: last.join(':'), problem: `${column} ${problem}` });
        break;
      }
    }
    count += rows.length;
    if (rows.length < batchSize) return count;
  }
}

function findProblem(value: unknown, isJson: boolean): string | undefined {
  if (value === null || value === undefined) return undefined;
  const bytes = Buffer.from(value as Uint8Array);
  if (!isUtf8(bytes)) return 'is not UTF-8';
  if (!isJson) return undefined;
  try {
    JSON.parse(bytes.toString('utf8'));
    return undefined;
  } catch {
    return 'is not JSON';
  }
}

/** Moves damaged tasks with all of their rows, and damaged push configurations alone. */
function quarantine(database: Database, damaged: readonly DamagedRow[]): void {
  for (const { name } of tables)
    database.exec(`create table if not exists quarantined_${name} as select * from ${name} where false`);
  const move = (table: string, where: string, key: number): void => {
    database.prepare(`insert into quarantined_${table} select * from ${table} where ${where}`).run([key]);
    database.prepare(`delete from ${table} where ${where}`).run([key]);
  };
  const moveTask = (key: number): void => {
    move('task_events', 'task = ?', key);
    move('push_configs', 'task = ?', key);
    move('tasks', 'key = ?', key);
  };
  for (const { table, key } of damaged) {
    const number = Number.parseInt(key, 10);
    if (table === 'push_configs') move(table, 'position = ?', number);
    else if (table === 'owners') {
      const ofOwner = database.prepare('select key from tasks where owner = ?').all([number]);
      for (const task of ofOwner) moveTask(Number(task['key']));
      move(table, 'key = ?', number);
    } else moveTask(number);
  }
  database.exec('delete from counts');
  database.exec('insert into counts select owner, state, count(*) from tasks group by owner, state');
}
