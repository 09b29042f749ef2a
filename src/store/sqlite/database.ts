import { A2AError } from '../../protocol/errors.ts';

/** What a column may hold. */
export type SqlValue = string | number | null;

/** A row by the names of its columns. Libraries may add members of their own. */
export type SqlRow = { readonly [column: string]: SqlValue };

/** A prepared statement. */
export interface SqlStatement {
  /** @returns how many rows it changed. */
  run(values: readonly SqlValue[]): number;
  get(values: readonly SqlValue[]): SqlRow | undefined;
  all(values: readonly SqlValue[]): readonly SqlRow[];
}

/** As much of a SQLite library as a ledger needs; everything it throws is an {@link A2AError}. */
export interface Database {
  exec(sql: string): void;
  prepare(sql: string): SqlStatement;
  close(): void;
}

/** What `node:sqlite` and `libsql` have in common. */
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

/** SQLite's numbers for a file that cannot be used now: busy, locked, read-only, input/output, full, cannot open. */
const passing = new Set([5, 6, 8, 10, 13, 14]);

/** Wraps what a SQLite library threw. */
function storageFault(thrown: unknown): A2AError {
  const { errcode, rawCode } = thrown as { errcode?: unknown; rawCode?: unknown };
  const code = typeof errcode === 'number' ? errcode : typeof rawCode === 'number' ? rawCode : 0;
  if (passing.has(code & 0xff)) {
    return new A2AError('UNAVAILABLE', 'The task store is not available', { cause: thrown });
  }
  return new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
}

function guarded<T>(action: () => T): T {
  try {
    return action();
  } catch (thrown) {
    throw storageFault(thrown);
  }
}

/** `libsql` takes an array of values as it is, which spares it a copy; `node:sqlite` takes them one by one. */
function wrap(native: NativeDatabase, takesArray: boolean): Database {
  const given = (values: readonly SqlValue[]): readonly unknown[] => (takesArray ? [values] : values);
  return {
    exec: (sql) => guarded(() => native.exec(sql)),
    prepare(sql) {
      const statement = guarded(() => native.prepare(sql));
      return {
        run: (values) => guarded(() => Number(statement.run(...given(values)).changes)),
        get: (values) => guarded(() => (statement.get(...given(values)) ?? undefined) as SqlRow | undefined),
        all: (values) => guarded(() => statement.all(...given(values)) as SqlRow[]),
      };
    },
    close: () => guarded(() => native.close()),
  };
}

async function libsql(): Promise<Opener> {
  try {
    return (await import('libsql')).default;
  } catch (cause) {
    throw new A2AError(
      'INTERNAL_ERROR',
      'This version of Node has no SQLite of its own: npm install libsql',
      {
        cause,
        hint: 'npm install libsql',
      },
    );
  }
}

/** Opens a file with the SQLite of Node where Node has one, else with `libsql`. */
export async function openDatabase(file: string): Promise<Database> {
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Opener } | undefined;
  const Opener = builtIn?.DatabaseSync ?? (await libsql());
  try {
    return wrap(new Opener(file), builtIn === undefined);
  } catch (cause) {
    throw new A2AError('UNAVAILABLE', `The ledger cannot open ${file}`, { cause });
  }
}
