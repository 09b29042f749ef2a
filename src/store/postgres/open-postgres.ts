import { A2AError, invalidField } from '../../protocol/errors.ts';
import { PostgresConnection, type PostgresPool } from './connection.ts';
import { quoteSchema } from './schema.ts';

/** How to reach a database. `url` or `pool` is required. */
export interface PostgresDatabaseOptions {
  /** URL of the database, such as `postgres://user:password@host/database?sslmode=verify-full`. */
  readonly url?: string | undefined;
  /** A pool of your own, for example of `pg`. It needs at least five connections; it stays open. */
  readonly pool?: PostgresPool | undefined;
  /**
   * Name of the schema with the tables. Replicas of one agent use the same schema, different agents different ones.
   * @defaultValue `'dragoman'`
   */
  readonly schema?: string | undefined;
  /** Prepares statements. Disable it if a pooler in transaction mode does not support them. @defaultValue true */
  readonly prepare?: boolean | undefined;
  /** Milliseconds after which a statement fails. @defaultValue 10,000 */
  readonly statementTimeout?: number | undefined;
  /** Maximum number of connections of the pool for `url`; four of them are for heartbeats, commits and notifications. @defaultValue 8 */
  readonly maxConnections?: number | undefined;
}

/** A database with its schema. */
export interface OpenedPostgres {
  readonly connection: PostgresConnection;
  readonly schemaName: string;
  /** The name of the schema as an SQL identifier. */
  readonly schema: string;
  /** Closes the pool, unless it belongs to the caller. */
  readonly close: () => Promise<void>;
}

/** Creates the connections to a database; the first statement connects. */
export async function openPostgres(options: PostgresDatabaseOptions): Promise<OpenedPostgres> {
  const { schema: schemaName = 'dragoman', prepare = true, statementTimeout = 10_000 } = options;
  const schema = quoteSchema(schemaName);
  const pool = options.pool ?? (await createPool(options));
  return {
    connection: new PostgresConnection(pool, {
      prepare,
      statementTimeout,
      maxConnections: sizeOf(options),
      // Connections of the caller's pool serve other statements as well.
      keepPlans: prepare && !options.pool,
    }),
    schemaName,
    schema,
    close: async () => (options.pool ? undefined : pool.end()),
  };
}

/** Number of connections of the pool for a URL. */
const defaultConnections = 8;

/** Returns the number of connections. A pool of `pg` has its options. */
function sizeOf({ pool, maxConnections = defaultConnections }: PostgresDatabaseOptions): number {
  if (!pool) return maxConnections;
  return (pool as { options?: { max?: number } }).options?.max ?? defaultConnections;
}

async function createPool({
  url,
  maxConnections = defaultConnections,
}: PostgresDatabaseOptions): Promise<PostgresPool> {
  if (url === undefined) throw invalidField('url', 'or pool is required');
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidField('url', 'must start with postgres://');
  const { Pool } = await importPg();
  return new Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
}

async function importPg(): Promise<Pick<typeof import('pg'), 'Pool'>> {
  try {
    return (await import('pg')).default;
  } catch (cause) {
    const hint = 'npm install pg';
    throw new A2AError('INTERNAL_ERROR', `A store in PostgreSQL needs a library: ${hint}`, {
      cause,
      hint,
    });
  }
}
