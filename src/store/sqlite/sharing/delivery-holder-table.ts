import type { Database, SqlRow, SqlStatement } from '../database.ts';

/** Webhooks that one process takes over at a time, so that others can take some as well. */
const takeOverSize = 256;

/** Records which process delivers to each webhook of a shared file, by the token of its lease. */
export class DeliveryHolderTable {
  readonly #token: () => string;
  readonly #assign: SqlStatement;
  readonly #any: SqlStatement;
  readonly #take: SqlStatement;
  readonly #leave: SqlStatement;
  readonly #remove: SqlStatement;

  /** @param token - returns the token of the lease of this process. */
  constructor(database: Database, token: () => string) {
    this.#token = token;
    this.#assign = database.prepare(
      'insert or replace into delivery_holders (position, token) values (?, ?)',
    );
    this.#any = database.prepare('select 1 from handed_over_deliveries limit 1');
    this.#take = database.prepare(
      `delete from handed_over_deliveries
       where position in (select position from handed_over_deliveries limit ${takeOverSize}) returning position`,
    );
    this.#leave = database.prepare(leaveDeliveries);
    this.#remove = database.prepare(removeHolders);
  }

  /** True if no webhook waits for a process. */
  get isEmpty(): boolean {
    return !this.#any.get([]);
  }

  /** Makes this process deliver to a webhook. Part of a transaction. @param row - with its position */
  assign({ position = 0 }: SqlRow): void {
    this.#assign.run([position, this.#token()]);
  }

  /** Makes this process deliver to webhooks without a process. Part of a transaction. @returns their positions */
  take(): number[] {
    const rows = this.#take.all([]);
    for (const row of rows) this.assign(row);
    return rows.map(({ position }) => Number(position));
  }

  /** Leaves all webhooks of this process to the others. Part of a transaction. */
  release(): void {
    this.#leave.run([this.#token()]);
    this.#remove.run([this.#token()]);
  }
}

const leaveDeliveries = `insert or ignore into handed_over_deliveries (position)
  select h.position from delivery_holders h join push_configs p on p.position = h.position
  where h.token = ? and p.finished = 0`;
const removeHolders = 'delete from delivery_holders where token = ?';

/** Leaves the webhooks of a process that has ended to the others. Part of a transaction. */
export function leaveDeliveriesOf(database: Database, token: string): void {
  database.prepare(leaveDeliveries).run([token]);
  database.prepare(removeHolders).run([token]);
}

/** Leaves all webhooks to this process, because no other one uses the file. Part of a transaction. */
export function adoptAllDeliveries(database: Database): void {
  database.exec(
    `delete from delivery_holders;
     insert or ignore into handed_over_deliveries (position) select position from push_configs where finished = 0`,
  );
}
