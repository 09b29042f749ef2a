import { createPageTokenKey } from '../page-tokens.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { otherAgentError } from '../durable/store-access-errors.ts';
import type { PostgresConnection } from './connection.ts';
import { toSettingError } from './setting-error.ts';

/** A change of the schema. */
interface SchemaStep {
  readonly description: string;
  readonly sql: string;
}

/**
 * Steps from an empty schema to the current one. A step is never changed; changes are new steps.
 *
 * `tasks` contains what lists and checks need. `events` contains in every row the changes of one commit, under the sequence
 * number of the last of them, and at sequence 0 the snapshot of the task at `snapshot_at`. `holder` is the epoch of the
 * replica that may write. The tables `gateway_…` belong to gateways, `follow_ups` to bridges.
 * Texts that are too long for an index are stored as a hash in the `_key` columns.
 */
const steps: readonly SchemaStep[] = [
  {
    description: 'Create the tables of tasks, events, commands and push configurations',
    sql: `
  create table page_token_key (id integer primary key check (id = 1), key text not null);

  create table replicas (
    epoch bigint generated always as identity primary key,
    name text not null,
    since timestamptz not null default clock_timestamp(),
    expires_at timestamptz not null
  );

  create table owners (
    key bigint generated always as identity primary key,
    name_key text not null unique,
    name text not null
  );

  create sequence recency;

  create table tasks (
    key bigint generated always as identity primary key,
    owner bigint not null,
    id_key text not null,
    id text not null,
    context_key text not null,
    message_key text,
    state text not null,
    touched bigint not null,
    changed_at bigint not null,
    sequence integer not null,
    snapshot_at integer not null,
    holder bigint,
    attempts integer not null default 0
  );
  create unique index tasks_by_id on tasks (owner, id_key);
  create unique index tasks_by_message on tasks (owner, message_key) where message_key is not null;
  create index tasks_by_recency on tasks (owner, touched);
  create index tasks_by_context on tasks (owner, context_key, touched);
  create index tasks_by_state on tasks (owner, state, touched);
  create index tasks_unfinished on tasks (holder) where state in ('submitted', 'working');
  create index tasks_finished on tasks (changed_at)
    where state in ('completed', 'failed', 'canceled', 'rejected');

  create table events (
    task bigint not null,
    sequence integer not null,
    body text not null,
    primary key (task, sequence)
  );

  create table commands (
    key bigint generated always as identity primary key,
    task bigint not null references tasks on delete cascade,
    body text not null,
    since timestamptz not null default clock_timestamp()
  );
  create index commands_by_task on commands (task);

  create table push_configs (
    position bigint generated always as identity primary key,
    task bigint not null references tasks on delete cascade,
    id_key text not null,
    body text not null,
    delivered integer not null default 0,
    last_error text,
    finished boolean not null default false,
    holder bigint,
    unique (task, id_key)
  );
  create index push_configs_unfinished on push_configs (position) where not finished;
  `,
  },
  {
    description: 'Index the webhooks of each replica',
    sql: `create index push_configs_by_holder on push_configs (holder) where not finished;`,
  },
  {
    description: 'Add lease and version of replicas, and the tables of gateways and bridges',
    sql: `
  alter table replicas add column lease integer, add column version text;

  create table gateway_owners (
    position bigint generated always as identity primary key,
    item_key text not null unique,
    owner_key text not null,
    owner text not null,
    context_key text not null
  );
  create index gateway_owners_by_owner on gateway_owners (owner_key, position);

  create table gateway_task_aliases (
    position bigint generated always as identity primary key,
    alias_key text not null unique,
    body text not null
  );

  create table gateway_mesh_entries (
    key text primary key,
    value text not null,
    claimed_until timestamptz,
    stored_at timestamptz not null default clock_timestamp()
  );
  create index gateway_mesh_entries_by_age on gateway_mesh_entries (stored_at);

  create table follow_ups (
    position bigint generated always as identity primary key,
    key text not null unique,
    expires bigint not null,
    body text not null
  );
  create index follow_ups_by_expiry on follow_ups (expires);
  `,
  },
  {
    description: 'Add the name of the agent, and find tasks by their id alone',
    sql: `
  create table agent (id integer primary key check (id = 1), name text not null);
  drop index tasks_by_id;
  create unique index tasks_by_id on tasks (id_key, owner);
  `,
  },
  {
    description: 'Add the quotas of gateways',
    sql: `
  create table gateway_quotas (
    key text primary key,
    period_start bigint not null,
    used bigint not null
  );
  create index gateway_quotas_by_age on gateway_quotas (period_start);
  `,
  },
];

/** Number of the advisory lock that serializes replicas that create or change the schema. */
const schemaLock = 0x64_72_61_67;

/** Checks the name of a schema and returns it as an SQL identifier. */
export function quoteSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(name))
    throw invalidField('schema', 'must consist of up to 48 lowercase letters, digits and underscores');
  return `"${name}"`;
}

/** Versions of a schema before and after a migration, and the steps in between. */
export interface SchemaMigration {
  readonly from: number;
  readonly to: number;
  readonly steps: readonly string[];
}

/**
 * Creates the tables, or applies the steps that are missing.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if a newer version of Dragoman has changed the schema, or if rights are missing.
 */
export async function migrateSchema(connection: PostgresConnection, name: string): Promise<SchemaMigration> {
  const schema = quoteSchema(name);
  const to = steps.length;
  try {
    // A user without the right to create tables may use a schema that exists.
    if ((await readVersion(connection, name)) === to) return { from: to, to, steps: [] };
    return await connection.withClient(async (run) => {
      await run('begin');
      // An index of many tasks takes its time.
      await run('set local statement_timeout = 0');
      await run(`select pg_advisory_xact_lock(${schemaLock})`);
      await run(`create schema if not exists ${schema}`);
      await run(`set local search_path to ${schema}`);
      await run('create table if not exists schema_version (version integer not null)');
      const [row] = await run('select max(version) as version from schema_version');
      const from = Number(row?.['version'] ?? 0);
      checkVersion(from);
      const missing = steps.slice(from);
      for (const { sql } of missing) await run(sql);
      if (missing.length > 0) {
        await run('delete from schema_version');
        await run(`insert into schema_version values (${to})`);
      }
      await run('commit');
      return { from, to, steps: missing.map(({ description }) => description) };
    });
  } catch (error) {
    throw toSettingError(error) ?? error;
  }
}

/** Grants a user the rights that a replica needs, which do not include changes of the schema. */
export async function grantRights(connection: PostgresConnection, name: string, role: string): Promise<void> {
  const schema = quoteSchema(name);
  const user = `"${role.replaceAll('"', '""')}"`;
  try {
    await connection.withClient(async (run) => {
      await run(`grant usage on schema ${schema} to ${user}`);
      await run(`grant select, insert, update, delete on all tables in schema ${schema} to ${user}`);
      await run(`grant usage on all sequences in schema ${schema} to ${user}`);
    });
  } catch (error) {
    throw toSettingError(error) ?? error;
  }
}

/**
 * Returns the version of a schema that must exist.
 *
 * @throws {@link A2AError} `NOT_FOUND` if it does not exist, `UNAVAILABLE` if its version is not that of this package.
 */
export async function expectSchema(connection: PostgresConnection, name: string): Promise<number> {
  const version = await readVersion(connection, name);
  if (version === steps.length) return version;
  const hint = 'Run dragoman store migrate with the same URL.';
  if (version === 0)
    throw new A2AError('NOT_FOUND', `There is no task store in the schema ${name} of the database`, { hint });
  throw new A2AError(
    'UNAVAILABLE',
    `The schema of the task store has version ${version}; this version of Dragoman needs ${steps.length}`,
    { hint },
  );
}

async function readVersion(connection: PostgresConnection, name: string): Promise<number> {
  try {
    return await findVersion(connection, name);
  } catch (error) {
    throw toSettingError(error) ?? error;
  }
}

/** Returns the version of the schema; 0 if it does not exist. */
async function findVersion(connection: PostgresConnection, name: string): Promise<number> {
  const table = `${quoteSchema(name)}.schema_version`;
  // The catalog shows tables also to users without rights on them.
  const [found] = await connection.query(
    'select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2',
    [name, 'schema_version'],
  );
  if (!found) return 0;
  const [row] = await connection.query(`select max(version) as version from ${table}`);
  const version = Number(row?.['version'] ?? 0);
  checkVersion(version);
  return version;
}

function checkVersion(version: number): void {
  if (version <= steps.length) return;
  throw new A2AError(
    'UNAVAILABLE',
    `The schema of the task store has version ${version}; this version of Dragoman supports ${steps.length}`,
    { hint: 'Use the version of Dragoman that the other replicas use, or another schema.' },
  );
}

/** Returns the key of page tokens and creates it if there is none. */
export async function loadPageTokenKey(connection: PostgresConnection, schema: string): Promise<string> {
  const table = `${quoteSchema(schema)}.page_token_key`;
  await connection.query(`insert into ${table} values (1, $1) on conflict do nothing`, [
    createPageTokenKey(),
  ]);
  const [row] = await connection.query(`select key from ${table}`);
  return String(row?.['key']);
}

/**
 * Reserves a task store for the agent with this name. The first agent gets it.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if it belongs to another agent, whose clients would see the tasks of this one.
 */
export async function reserveSchema(
  connection: PostgresConnection,
  schema: string,
  name: string,
): Promise<void> {
  await connection.query(`insert into ${schema}.agent values (1, $1) on conflict do nothing`, [name]);
  const [row] = await connection.query(`select name from ${schema}.agent`);
  const owner = String(row?.['name']);
  if (owner !== name) throw otherAgentError(owner, name, 'another schema (?schema=NAME)');
}

/** Gives a task store to the agent with this name. */
export async function assignSchema(
  connection: PostgresConnection,
  schema: string,
  name: string,
): Promise<void> {
  const text = `insert into ${schema}.agent values (1, $1) on conflict (id) do update set name = excluded.name`;
  await connection.query(text, [name]);
}
