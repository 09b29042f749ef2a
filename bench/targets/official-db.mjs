// STORE=sqlite:FILE[?wal] or postgres://…: the official SDK's own task store, with the same libraries as ours.
import Database from 'libsql';
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely';
import pg from 'pg';
import { DatabaseTaskStore } from 'sdk-1.3/server/database';

/** Adapts libsql statements to the better-sqlite3 interface that Kysely expects. */
function forKysely(db) {
  return {
    close: () => db.close(),
    prepare(sql) {
      const statement = db.prepare(sql);
      const reader = /^\s*(select|with|pragma)|\breturning\b/i.test(sql);
      return {
        reader,
        all: (parameters) => statement.all(...parameters),
        run: (parameters) => statement.run(...parameters),
        iterate: (parameters) => statement.iterate(...parameters),
      };
    },
  };
}

/** The table created by the SDK's own migration. */
const table = `
  create table if not exists tasks (
    tenant varchar(255) not null, owner varchar(255) not null, id varchar(36) not null,
    context_id varchar(36) not null, status_last_updated bigint not null, status_state varchar(255),
    status text, artifacts text, history text, metadata text, protocol_version varchar(255),
    primary key (tenant, owner, id));
  create index if not exists tasks_updated on tasks (tenant, owner, status_last_updated, id);
  create index if not exists tasks_context on tasks (tenant, owner, context_id, status_last_updated, id);`;

export async function open(spec) {
  if (spec.startsWith('postgres:')) {
    const pool = new pg.Pool({ connectionString: spec, max: 10 });
    await pool.query(table);
    return new DatabaseTaskStore(new Kysely({ dialect: new PostgresDialect({ pool }) }));
  }
  const db = new Database(spec.replace(/^sqlite:/, '').split('?')[0]);
  if (spec.endsWith('?wal')) db.exec('pragma journal_mode = wal; pragma synchronous = normal');
  db.exec(table);
  return new DatabaseTaskStore(new Kysely({ dialect: new SqliteDialect({ database: forKysely(db) }) }));
}
