import { serializeChanges } from '../durable/stored-changes.ts';
import type { PostgresConnection, PostgresValue } from './connection.ts';
import { binaryArrays } from './binary-array.ts';
import { columnKey } from './column-key.ts';
import { encodeColumn } from '../durable/column-encoding.ts';
import type { HeldTaskLog } from '../durable/held-task-log.ts';

const { bigint, boolean, integer, text } = binaryArrays;

/** Minimum size of changes, in characters, before a snapshot is written. */
const minChangesSize = 4_096;

/** Contribution of one log to a commit. A retried commit sends it unchanged. */
export interface CommitShare {
  readonly log: HeldTaskLog;
  /** The hold under which the changes were appended; see {@link HeldTaskLog.hold}. */
  readonly hold: number;
  /** Sequence numbers before and after the commit. */
  readonly expected: number;
  readonly sequence: number;
  /** Undefined if the status does not change. */
  readonly state: string | undefined;
  readonly changes: string;
  readonly snapshot: string | undefined;
  readonly isRelease: boolean;
}

/** Serializes the pending changes of a log. */
export function buildShare(log: HeldTaskLog): CommitShare {
  const { stored, pending } = log;
  const changes = pending.length > 0 ? serializeChanges(pending) : '';
  const isDue =
    stored.row !== 0 && log.changesSize + changes.length > Math.max(log.snapshotSize, minChangesSize);
  return {
    log,
    hold: log.hold,
    expected: stored.sequence,
    sequence: log.sequence,
    state: log.hasStatusChange ? log.state : undefined,
    changes,
    snapshot: isDue ? JSON.stringify(log.reducePending()) : undefined,
    isRelease: log.isReleasing,
  };
}

/** Returns false if this replica has lost the task since the changes were appended: they were discarded. */
export function isCurrentShare({ log, hold }: CommitShare): boolean {
  return log.isHeld && log.hold === hold;
}

/** Records in the log which part of it is now stored. */
export function recordStored(share: CommitShare): void {
  const { log, sequence, state, changes, snapshot } = share;
  const { stored } = log;
  if (state !== undefined) stored.state = state as typeof log.state;
  stored.sequence = sequence;
  log.changesSize += changes.length;
  if (snapshot === undefined) return;
  stored.snapshotAt = sequence;
  log.snapshotSize = snapshot.length;
  log.changesSize = 0;
}

/** Result of a commit: the keys of the rows that were written; the other shares were refused. */
interface CommitResult {
  /** Keys of new tasks, by index of their log. */
  readonly created: ReadonlyMap<number, number>;
  readonly changed: ReadonlySet<number>;
}

/**
 * The statement of a group commit. It writes all changes in one round trip and one transaction. A change of a task is
 * written only if the replica still holds the task (fencing) and if no other change came in between.
 */
export class CommitStatement {
  readonly #connection: PostgresConnection;
  readonly #commit: string;
  readonly #applied: string;

  constructor(connection: PostgresConnection, schema: string) {
    this.#connection = connection;
    this.#commit = `
      with created as (
        select * from unnest($2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
          as i (position, owner, id_key, id, context_key, message_key, state, body)
      ), inserted as (
        insert into ${schema}.tasks (owner, id_key, id, context_key, message_key, state, touched, changed_at, sequence,
            snapshot_at, holder)
        select owner, id_key, id, context_key, message_key, state, nextval('${schema}.recency'), $10::bigint, 1, 0, $1::bigint
        from created order by owner, message_key, id_key
        on conflict do nothing
        returning key, owner, id_key
      ), inserted_events as (
        insert into ${schema}.events (task, sequence, body)
        select n.key, 1, c.body from inserted n join created c using (owner, id_key)
      ), changed as (
        select * from unnest($11::bigint[], $12::int[], $13::int[], $14::text[], $15::text[], $16::text[], $17::boolean[])
          as i (key, expected, sequence, state, body, snapshot, is_release)
      ), updated as (
        update ${schema}.tasks t set
          sequence = c.sequence,
          state = coalesce(c.state, t.state),
          touched = case when c.state is null then t.touched else nextval('${schema}.recency') end,
          changed_at = case when c.state is null then t.changed_at else $10::bigint end,
          snapshot_at = case when c.snapshot is null then t.snapshot_at else c.sequence end,
          holder = case when c.is_release then null else t.holder end
        from changed c where t.key = c.key and t.sequence = c.expected and t.holder = $1::bigint
        returning t.key
      ), updated_events as (
        insert into ${schema}.events (task, sequence, body)
        select key, c.sequence, c.body from updated join changed c using (key) where c.body <> ''
      ), snapshots as (
        insert into ${schema}.events (task, sequence, body)
        select key, 0, c.snapshot from updated join changed c using (key) where c.snapshot is not null
        on conflict (task, sequence) do update set body = excluded.body
      )
      select c.position, n.key from inserted n join created c using (owner, id_key)
      union all select null, key from updated`;
    this.#applied = `
      select i.key from unnest($1::bigint[], $2::int[], $3::text[]) as i (key, sequence, body)
      join ${schema}.events e on e.task = i.key and e.sequence = i.sequence and e.body = i.body`;
  }

  /** Writes new tasks and changes. @param now - milliseconds since 1970 */
  async run(
    epoch: number,
    created: readonly HeldTaskLog[],
    shares: readonly CommitShare[],
    now: number,
  ): Promise<CommitResult> {
    const rows = await this.#connection.queryAtOnce(this.#commit, [
      epoch,
      integer(created.map((_log, index) => index)),
      bigint(created.map(({ ownerRow }) => ownerRow)),
      text(created.map(({ id }) => columnKey(id))),
      text(created.map(({ id }) => encodeColumn(id))),
      text(created.map(({ contextId }) => columnKey(contextId))),
      text(created.map(({ stored: { messageId } }) => (messageId === null ? null : columnKey(messageId)))),
      text(created.map(({ state }) => state)),
      text(created.map(({ pending }) => serializeChanges(pending))),
      now,
      ...toChangeArrays(shares),
    ]);
    const keys = new Map<number, number>();
    const changed = new Set<number>();
    for (const { position, key } of rows) {
      if (position === null) changed.add(Number(key));
      else keys.set(Number(position), Number(key));
    }
    return { created: keys, changed };
  }

  /** Returns the keys of the shares that an earlier attempt has stored before its connection broke. */
  async findApplied(shares: readonly CommitShare[]): Promise<ReadonlySet<number>> {
    const rows = await this.#connection.queryAtOnce(this.#applied, [
      shares.map(({ log }) => log.stored.row),
      shares.map(({ sequence }) => sequence),
      shares.map(({ changes }) => changes),
    ]);
    return new Set(rows.map(({ key }) => Number(key)));
  }
}

function toChangeArrays(shares: readonly CommitShare[]): PostgresValue[] {
  return [
    bigint(shares.map(({ log }) => log.stored.row)),
    integer(shares.map(({ expected }) => expected)),
    integer(shares.map(({ sequence }) => sequence)),
    text(shares.map(({ state }) => state ?? null)),
    text(shares.map(({ changes }) => changes)),
    text(shares.map(({ snapshot }) => snapshot ?? null)),
    boolean(shares.map(({ isRelease }) => isRelease)),
  ];
}
