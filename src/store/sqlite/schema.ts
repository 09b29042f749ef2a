import { createPageTokenKey } from '../page-tokens.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type Database, inTransaction } from './database.ts';

/** Stored in `user_version` of the file. */
const schemaVersion = 1;

/**
 * `tasks` contains what lists and checks need, in small rows that are cheap to rewrite. `task_events` contains the rest:
 * in every row the changes of one commit, under the sequence number of the last of them, and at sequence 0 the snapshot of
 * the task at `snapshot_at`. A new task has no snapshot: its first change contains the whole task, and `snapshot_at` is 0.
 * Neither has a task that was finished by its first commit, if this commit is short.
 * `touched` is the recency of a task, taken from the counter in `clock`.
 */
const schema = `
  create table clock (id integer primary key check (id = 1), touched integer not null);
  insert into clock values (1, 0);

  create table owners (key integer primary key, name text not null unique);

  create table tasks (
    key integer primary key,
    owner integer not null,
    id text not null,
    context_id text not null,
    message_id text,
    state text not null,
    touched integer not null,
    changed_at integer not null,
    sequence integer not null,
    previous integer not null,
    snapshot_at integer not null
  );
  create unique index tasks_by_id on tasks (owner, id);
  create index tasks_by_touched on tasks (owner, touched, changed_at);
  create index tasks_by_context on tasks (owner, context_id, touched, state);
  create index tasks_by_state on tasks (owner, state, touched);
  create index tasks_by_message on tasks (owner, message_id) where message_id is not null;

  create table task_events (
    task integer not null,
    sequence integer not null,
    body text not null,
    primary key (task, sequence)
  ) without rowid;

  create table counts (
    owner integer not null,
    state text not null,
    n integer not null,
    primary key (owner, state)
  ) without rowid;

  create table push_configs (
    position integer primary key,
    task integer not null,
    id text not null,
    body text not null,
    delivered integer not null default 0,
    last_error text,
    finished integer not null default 0,
    unique (task, id)
  );
  create index push_configs_unfinished on push_configs (position) where finished = 0;

  create table lease (
    token text primary key,
    shared integer not null,
    pid integer not null,
    host text not null,
    pid_namespace text not null,
    since integer not null,
    heartbeat_at integer not null,
    timeout integer not null
  ) without rowid;
`;

/**
 * Tables that files of the same schema version may lack. In a shared file, `holders` contains the process that holds each
 * task, `handed_over` unfinished tasks without one, `commands` what other processes ask the holders to do, and `attempts`
 * how many processes ended while they ran a task. `delivery_holders` and `handed_over_deliveries` are the same for webhooks.
 * `agent` has the name of the agent that a shared file belongs to.
 */
const laterTables = `
  create table if not exists handed_over (task integer primary key);
  create table if not exists holders (task integer primary key, token text not null);
  create table if not exists attempts (task integer primary key, n integer not null);
  create table if not exists delivery_holders (position integer primary key, token text not null);
  create table if not exists handed_over_deliveries (position integer primary key);
  create table if not exists agent (id integer primary key check (id = 1), name text not null);
  create table if not exists commands (key integer primary key, task integer not null, body text not null, since integer not null);
`;

/** Returns the version of the schema of a file; 0 if it has none. */
export function readSchemaVersion(database: Database): number {
  return Number(database.prepare('pragma user_version').get([])?.['user_version'] ?? 0);
}

/**
 * Creates the tables of an empty file.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if the file has another schema version.
 */
export function createSchema(database: Database): void {
  if (readSchemaVersion(database) !== schemaVersion) createTables(database);
  database.exec(laterTables);
}

function createTables(database: Database): void {
  inTransaction(database, () => {
    // Another process may have created the tables while this one waited for the lock.
    const version = readSchemaVersion(database);
    if (version === 0) {
      database.exec(schema);
      database.exec(`pragma user_version = ${schemaVersion}`);
    } else if (version !== schemaVersion) {
      throw new A2AError(
        'UNAVAILABLE',
        `The task store file has schema version ${version}; this version of Dragoman supports ${schemaVersion}`,
        { hint: 'Use the version of Dragoman that created the file, or another file.' },
      );
    }
  });
}

/** Returns the key of page tokens in a file and creates it in a file that has none. */
export function readPageTokenKey(database: Database): string {
  database.exec(
    'create table if not exists page_token_key (id integer primary key check (id = 1), key text)',
  );
  const select = database.prepare('select key from page_token_key');
  if (!select.get([])) {
    // Another process may insert its key first.
    database.prepare('insert or ignore into page_token_key values (1, ?)').run([createPageTokenKey()]);
  }
  return String(select.get([])?.['key']);
}
