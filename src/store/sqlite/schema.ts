import { A2AError } from '../../protocol/errors.ts';
import type { Database } from './database.ts';

/**
 * The steps from an empty file to the newest schema. A step that was released is never changed; `user_version` says
 * how many were taken.
 *
 * `tasks` holds what lists and checks need, in small rows that are cheap to rewrite. `texts` holds the rest: at
 * sequence 0 the task as it stood at `snapshot_at`, and at every other place the changes of one commit, named by
 * the last of them.
 */
const steps: readonly string[] = [
  `
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

  create table texts (
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
    unique (task, id)
  );
  `,
  // Nothing was ever sent to the webhooks that are there, and what is past is no news.
  `
  alter table push_configs add column delivered integer not null default 0;
  alter table push_configs add column trouble text;
  alter table push_configs add column finished integer not null default 0;
  update push_configs set
    delivered = coalesce((select sequence from tasks where key = task), 0),
    finished = coalesce((select state in ('completed', 'failed', 'canceled', 'rejected') from tasks where key = task), 1);
  create index push_configs_unfinished on push_configs (position) where finished = 0;
  `,
  `
  create table lease (
    token text primary key,
    shared integer not null,
    pid integer not null,
    host text not null,
    pid_space text not null,
    since integer not null,
    seen integer not null,
    timeout integer not null
  ) without rowid;
  `,
];

function versionOf(database: Database): number {
  return Number(database.prepare('pragma user_version').get([])?.['user_version'] ?? 0);
}

/** Brings a file to the newest schema, one step after the other, each of them once. */
export function migrate(database: Database): void {
  if (versionOf(database) === steps.length) return;
  database.exec('begin immediate');
  try {
    // Another process may have done it while this one waited for the lock.
    const version = versionOf(database);
    if (version > steps.length) {
      throw new A2AError('UNAVAILABLE', 'The ledger file was written by a newer version of this program');
    }
    for (const step of steps.slice(version)) database.exec(step);
    database.exec(`pragma user_version = ${steps.length}`);
    database.exec('commit');
  } catch (fault) {
    database.exec('rollback');
    throw fault;
  }
}
