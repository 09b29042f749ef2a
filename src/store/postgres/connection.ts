import { createHash } from 'node:crypto';
import { A2AError } from '../../protocol/errors.ts';
import { QuerySlots } from '../durable/query-slots.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';

/** A row by column name. Large integers and sums are strings. */
export type PostgresRow = { readonly [column: string]: string | number | boolean | null };

/** A value of a parameter. A buffer is sent in binary format. */
export type PostgresValue =
  | string
  | number
  | boolean
  | null
  | Buffer
  | readonly (string | number | boolean | null)[];

/** A statement with its parameters; a statement with a name is prepared once per connection. */
interface PostgresQuery {
  readonly name?: string;
  readonly text: string;
  readonly values: PostgresValue[];
}

/** A connection of a pool; the subset of `PoolClient` of `pg` that the task store uses. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<{ readonly rows: unknown[]; readonly rowCount: number | null }>;
  on(event: 'notification', listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  /** Returns the connection to the pool, or closes it. */
  release(close?: boolean): void;
}

/** A pool of connections; the subset of `Pool` of `pg` that the task store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  /** Called with each new connection, before it is used. */
  on(event: 'connect', listener: (client: PostgresClient) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** Options of {@link PostgresConnection}. */
interface ConnectionOptions {
  /** Milliseconds after which a statement fails and its connection is closed. */
  readonly statementTimeout: number;
  /** Prepares statements once per connection. */
  readonly prepare: boolean;
  /** Number of connections of the pool. */
  readonly maxConnections: number;
  /** Plans each prepared statement once, which changes settings of the connections. */
  readonly keepPlans: boolean;
}

/** The database did not respond in time. */
class LateAnswerError extends Error {
  constructor(milliseconds: number) {
    super(`The database did not respond within ${milliseconds} ms`);
  }
}

/**
 * SQLSTATE classes and codes after which the same statement can succeed later: connection exceptions, insufficient
 * resources, operator intervention, serialization failures, a server that became a standby, and missing rights, which an
 * operator can grant.
 */
const temporaryStates = /^(08|53|57|40|25006|55P03|42501)/;

/** Converts errors of the library. Errors without a SQLSTATE are errors of the connection. */
function toStorageError(thrown: unknown): A2AError {
  if (thrown instanceof A2AError) return thrown;
  const code = (thrown as { code?: unknown }).code;
  const isState = typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E');
  if (!isState || temporaryStates.test(code)) return new TemporaryStorageError(thrown);
  return new A2AError('INTERNAL_ERROR', undefined, { cause: thrown });
}

/**
 * PostgreSQL plans a statement with arrays anew for each execution, because it knows the lengths then; that takes longer than
 * the execution of a small commit. A plan that was made while a table was empty would scan it for ever, so only indexes are
 * used. PostgreSQL counts a scan that it cannot avoid as very expensive then, and would compile the statement (jit), which
 * takes a hundred times longer than its execution.
 */
const keptPlans = `select set_config('plan_cache_mode', 'force_generic_plan', false),
  set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false)`;

/** Lets the database end a statement that this process has given up, which would wait for a lock otherwise. */
const timeoutOf = (milliseconds: number): string =>
  `set_config('statement_timeout', '${Math.ceil(milliseconds)}', false)`;

/** Connections for notifications, two commits and a heartbeat. */
const reservedConnections = 4;

/** Pools and connections with a listener for errors, without which an error would end the process. */
const guarded = new WeakSet<PostgresPool | PostgresClient>();

/** Connections that keep the plans of their statements. */
const planning = new WeakSet<PostgresClient>();

/** The server may close a connection that is in use between two statements. */
function guard(client: PostgresClient): void {
  if (guarded.has(client)) return;
  guarded.add(client);
  client.on('error', () => {});
}

/** Runs statements on the connections of a pool. All errors are converted to {@link A2AError}. */
export class PostgresConnection {
  readonly #pool: PostgresPool;
  readonly #options: ConnectionOptions;
  readonly #slots: QuerySlots;
  /** Number of statements whose outcome is unknown, because the database did not respond. */
  failures = 0;
  /** Names of prepared statements by text. */
  readonly #names = new Map<string, string>();

  constructor(pool: PostgresPool, options: ConnectionOptions) {
    this.#pool = pool;
    this.#options = options;
    this.#slots = new QuerySlots(
      Math.max(1, options.maxConnections - reservedConnections),
      options.statementTimeout,
    );
    if (guarded.has(pool)) return;
    guarded.add(pool);
    // Connections that fail while they are idle are replaced by the pool.
    pool.on('error', () => {});
    // A connection may fail in the moment in which it is established, before `connect()` returns it.
    pool.on('connect', guard);
  }

  /** Runs one statement. @throws {@link TemporaryStorageError} if the same statement can succeed later. */
  async query(text: string, values: PostgresValue[] = []): Promise<readonly PostgresRow[]> {
    try {
      await this.#slots.acquire();
    } catch (thrown) {
      throw new TemporaryStorageError(thrown);
    }
    try {
      return await this.queryAtOnce(text, values);
    } finally {
      this.#slots.release();
    }
  }

  /**
   * Runs one statement that must not wait for others, of which there are few: heartbeats, because the lease would end, and
   * commits.
   */
  async queryAtOnce(text: string, values: PostgresValue[] = []): Promise<readonly PostgresRow[]> {
    const client = await this.connect();
    let isBroken = true;
    try {
      const { rows } = await this.#inTime(client.query(this.#prepared(text, values)));
      isBroken = false;
      return rows as PostgresRow[];
    } catch (thrown) {
      const error = toStorageError(thrown);
      isBroken = error instanceof TemporaryStorageError;
      if (isBroken) this.failures++;
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

  /** Runs statements on one connection, for example in a transaction. */
  async withClient<T>(
    work: (run: (text: string) => Promise<readonly PostgresRow[]>) => Promise<T>,
  ): Promise<T> {
    const client = await this.connect();
    let isBroken = true;
    try {
      const result = await work(
        async (text) => (await client.query({ text, values: [] })).rows as PostgresRow[],
      );
      isBroken = false;
      return result;
    } catch (thrown) {
      throw toStorageError(thrown);
    } finally {
      client.release(isBroken);
    }
  }

  /** Takes a connection out of the pool, within the time of a statement: a pool may have no limit of its own. */
  async connect(): Promise<PostgresClient> {
    const connecting = this.#pool.connect();
    try {
      const client = await this.#inTime(connecting);
      guard(client);
      if (this.#options.keepPlans && !planning.has(client)) {
        planning.add(client);
        await this.#configure(client);
      }
      return client;
    } catch (thrown) {
      if (thrown instanceof LateAnswerError) returnLate(connecting);
      // Also a wrong password: it was right when the store was opened, so that an operator is about to change it.
      throw new TemporaryStorageError(thrown);
    }
  }

  async #configure(client: PostgresClient): Promise<void> {
    const text = `${keptPlans}, ${timeoutOf(this.#options.statementTimeout)}`;
    try {
      await this.#inTime(client.query({ text, values: [] }));
    } catch (error) {
      client.release(true);
      throw toStorageError(error);
    }
  }

  /** Rejects with {@link LateAnswerError} if the database does not respond in time. */
  #inTime<T>(answer: Promise<T>): Promise<T> {
    const { statementTimeout } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new LateAnswerError(statementTimeout)), statementTimeout);
    });
    return Promise.race([answer, timeout]).finally(() => clearTimeout(timer));
  }

  #prepared(text: string, values: PostgresValue[]): PostgresQuery {
    if (!this.#options.prepare) return { text, values };
    let name = this.#names.get(text);
    if (name === undefined) {
      // Several task stores may use one pool, so the name depends on the text alone.
      name = `dragoman_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
      this.#names.set(text, name);
    }
    return { name, text, values };
  }
}

/** Returns a connection to its pool that was established too late. */
function returnLate(connecting: Promise<PostgresClient>): void {
  connecting.then(
    (client) => client.release(),
    () => {},
  );
}
