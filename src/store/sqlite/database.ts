import { A2AError } from '../../protocol/errors.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';

/** A value of a column. */
export type SqlValue = string | number | null;

/** A row by column name. Libraries may add members of their own. */
export type SqlRow = { readonly [column: string]: SqlValue };

/** A prepared statement. */
export interface SqlStatement {
  /** @returns the number of changed rows. */
  run(values: readonly SqlValue[]): number;
  get(values: readonly SqlValue[]): SqlRow | undefined;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

/** The part of a SQLite library that the task store uses. All errors are converted to {@link A2AError}. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

/** Common interface of `node:sqlite` and `libsql`. */
interface NativeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NativeStatement;
  close(): void;
}

interface NativeStatement {
  run(...values: unknown[]): { changes: number | bigint };
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}

type Opener = new (file: string) => NativeDatabase;

/** SQLite result codes of temporary errors: BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const temporaryErrors = new Set([5, 6, 8, 10, 13, 14]);

/** SQLite result codes of a lock of another connection: BUSY, LOCKED. */
const lockErrors = new Set([5, 6]);

function toStorageError(thrown: unknown): A2AError {
  const { errcode, rawCode } = thrown as { errcode?: unknown; rawCode?: unknown };
  const code = (typeof errcode === 'number' ? errcode : typeof rawCode === 'number' ? rawCode : 0) & 0xff;
  if (temporaryErrors.has(code)) return new TemporaryStorageError(thrown, lockErrors.has(code));
  return new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
}

function withStorageErrors<T>(action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    throw toStorageError(thrown);
  }
}

/** `libsql` accepts the values as one array, which avoids a copy; `node:sqlite` accepts them as single arguments. */
function wrap(native: NativeDatabase, acceptsArray: boolean): Database {
  let isClosed = false;
  const toArguments = (values: readonly SqlValue[]): readonly unknown[] => (acceptsArray ? [values] : values);
  return {
    exec: (sql) => withStorageErrors(() => native.exec(sql)),
    prepare(sql) {
      const statement = withStorageErrors(() => native.prepare(sql));
      return {
        run: (values) => withStorageErrors(() => Number(statement.run(...toArguments(values)).changes)),
        get: (values) =>
          withStorageErrors(() => (statement.get(...toArguments(values)) ?? undefined) as SqlRow | undefined),
        all: (values) => withStorageErrors(() => statement.all(...toArguments(values)) as SqlRow[]),
      };
    },
    close() {
      // Closing twice is an error in `node:sqlite`, and none in `libsql`.
      if (isClosed) return;
      isClosed = true;
      withStorageErrors(() => native.close());
    },
  };
}

async function libsql(): Promise<Opener> {
  try {
    return (await import('libsql')).default;
  } catch (cause) {
    throw new A2AError('INTERNAL_ERROR', 'This version of Node has no node:sqlite: npm install libsql', {
      cause,
      hint: 'npm install libsql',
    });
  }
}

/** Opens a file with `node:sqlite` if this version of Node has it, otherwise with `libsql`. */
export async function openDatabase(file: string): Promise<Database> {
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Opener } | undefined;
  const Opener = builtIn?.DatabaseSync ?? (await libsql());
  try {
    return wrap(new Opener(file), builtIn === undefined);
  } catch (cause) {
    throw new A2AError('UNAVAILABLE', `Cannot open the task store file ${file}`, { cause });
  }
}

/**
 * Writes in a transaction, and rolls it back if `write` throws.
 *
 * Every write needs one: in `libsql` a statement that fails with SQLITE_BUSY outside of a transaction stays active, and
 * then no other transaction can be committed.
 */
export function inTransaction<T>(database: Database, write: () => T): T {
  database.exec('begin immediate');
  try {
    const result = write();
    database.exec('commit');
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

/** Rolls a failed transaction back. SQLite has already done so if the disk is full. */
export function rollBack(database: Database): void {
  try {
    database.exec('rollback');
  } catch {
    // See above.
  }
}
