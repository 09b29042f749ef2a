/**
 * Returns a query for the replicas whose lease has ended, except for `$1`. It locks them, so that they cannot renew their lease
 * until the statement that takes their tasks over is committed: afterwards they notice which tasks they have lost.
 */
export function lockEndedReplicas(schema: string, condition = 'true'): string {
  return `select epoch from ${schema}.replicas where expires_at <= clock_timestamp() and epoch <> $1 and ${condition}
    for update skip locked`;
}

/**
 * Returns a query for the holders of rows of a table that are not registered as replicas with a valid lease, except for `$1`.
 *
 * It finds one index entry per holder, however many rows a holder has. Rows of a holder whose registration was deleted count
 * as well: a process that wakes up late may have written some.
 *
 * @param condition - the condition of the index on `holder`.
 * @param ended - a query for the registered replicas whose lease has ended.
 */
export function endedHolders(
  schema: string,
  table: string,
  condition: string,
  ended = `select epoch from ${schema}.replicas where expires_at <= clock_timestamp()`,
): string {
  const smallest = `select min(holder) from ${schema}.${table} where ${condition}`;
  return `with recursive holders (epoch) as (
      (${smallest}) union all
      select (${smallest} and holder > h.epoch) from holders h where h.epoch is not null
    )
    select h.epoch from holders h where h.epoch <> $1
      and (h.epoch in (${ended}) or not exists (select 1 from ${schema}.replicas r where r.epoch = h.epoch))`;
}
