import type { Pool } from 'pg';
import type { AuditEntry, LoggedChange, StoredLog } from '../history/history.ts';

/**
 * Records in the database which process changed which task, in the order of the changes. A process is known by its name,
 * which is also the name of its connections, so that the record does not depend on what a process says of itself.
 */
const auditTables = `
  create schema audit;
  create sequence audit.clock;
  create table audit.replicas (epoch bigint, name text);
  create table audit.entries (at bigint default nextval('audit.clock'), task bigint, holder bigint, sequence integer, process text);

  create function audit.registered() returns trigger language plpgsql as $$ begin
    insert into audit.replicas select epoch, name from added;
    return null;
  end $$;
  create trigger audit after insert on dragoman.replicas referencing new table as added
    for each statement execute function audit.registered();

  create function audit.created() returns trigger language plpgsql as $$ begin
    insert into audit.entries (task, holder) select key, holder from added;
    return null;
  end $$;
  create trigger audit_created after insert on dragoman.tasks referencing new table as added
    for each statement execute function audit.created();

  create function audit.changed() returns trigger language plpgsql as $$ begin
    insert into audit.entries (task, holder)
      select a.key, a.holder from added a join removed r using (key) where a.holder is distinct from r.holder;
    return null;
  end $$;
  create trigger audit_changed after update on dragoman.tasks referencing old table as removed new table as added
    for each statement execute function audit.changed();

  create function audit.written() returns trigger language plpgsql as $$ begin
    insert into audit.entries (task, sequence, process)
      select task, sequence, current_setting('application_name') from added where sequence > 0;
    return null;
  end $$;
  create trigger audit after insert on dragoman.events referencing new table as added
    for each statement execute function audit.written();`;

/** Starts the record of changes in a database with the tables of the task store. */
export async function installAudit(pool: Pool): Promise<void> {
  await pool.query(auditTables);
}

/** Returns the number of tasks and deliveries that are not finished. */
export async function countUnfinished(pool: Pool): Promise<{ tasks: number; deliveries: number }> {
  const { rows } = await pool.query(
    `select (select count(*) from dragoman.tasks where state in ('submitted', 'working'))::integer as tasks,
      (select count(*) from dragoman.push_configs where not finished)::integer as deliveries`,
  );
  return rows[0];
}

/** Reads all logs from the tables, without the code of the product. */
export async function readLogs(pool: Pool): Promise<Map<string, StoredLog>> {
  const names = new Map<string, string>();
  for (const { epoch, name } of (await pool.query('select * from audit.replicas')).rows)
    names.set(epoch, name);
  const logs = new Map<string, StoredLog & { changes: LoggedChange[]; audit: AuditEntry[] }>();
  const byKey = new Map<string, StoredLog & { changes: LoggedChange[]; audit: AuditEntry[] }>();
  for (const { key, id, state, sequence } of (await pool.query('select * from dragoman.tasks')).rows) {
    const log = { id, state, sequence, changes: [], audit: [] };
    logs.set(id, log);
    byKey.set(key, log);
  }
  const events = await pool.query('select * from dragoman.events where sequence > 0 order by task, sequence');
  for (const { task, body } of events.rows) byKey.get(task)?.changes.push(...JSON.parse(body));
  for (const { task, holder, sequence, process } of (
    await pool.query('select * from audit.entries order by at')
  ).rows) {
    const entry: AuditEntry =
      process === null
        ? { kind: 'holder', process: holder === null ? undefined : names.get(holder) }
        : { kind: 'write', sequence, process };
    byKey.get(task)?.audit.push(entry);
  }
  return logs;
}
