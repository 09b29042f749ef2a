import type { Clock } from '../../../primitives/clock.ts';
import type { PostgresConnection, PostgresRow } from '../connection.ts';

/** Number of heartbeats within the lease. */
const heartbeatsPerLease = 3;

/** The clock of the database in milliseconds since 1970, as SQL. */
export const databaseNow = `(extract(epoch from clock_timestamp()) * 1000)::float8`;

/** Collaborators of {@link Replica}. */
export interface ReplicaContext {
  readonly name: string;
  /** Version of this package, for operators. */
  readonly version: string;
  /** Duration of the lease, in milliseconds. */
  readonly lease: number;
  readonly clock: Clock;
  /** Called after the lease was lost and a new epoch begun: this replica holds no task any more. */
  onLost(): void;
  /**
   * Called after a lease was renewed that had ended: other replicas may have taken over some tasks meanwhile. They take over
   * no more of them.
   */
  onLapsed(): Promise<void>;
  /** Called when the database cannot be reached. */
  onError(error: unknown): void;
}

/**
 * The registration of this process in the table of replicas. Its epoch is the fencing token of the tasks that it holds. The
 * clock of the database decides when the lease ends.
 */
export class Replica {
  readonly #connection: PostgresConnection;
  readonly #context: ReplicaContext;
  readonly #register: string;
  readonly #renew: string;
  readonly #sweep: string;
  readonly #expire: string;
  #epoch = 0;
  #term = 0;
  #validUntil = 0;
  #others = 0;
  /** Difference between the clock of the database and the monotonic clock of this process, in milliseconds. */
  #offset = 0;
  #stop: (() => void) | undefined = undefined;
  #isRenewing = false;

  constructor(connection: PostgresConnection, schema: string, context: ReplicaContext) {
    this.#connection = connection;
    this.#context = context;
    const end = `clock_timestamp() + $2::integer * interval '1 millisecond'`;
    const others = `(select count(*) from ${schema}.replicas o
      where o.expires_at > clock_timestamp() and o.epoch <> r.epoch) as others`;
    const answer = `epoch, ${others}, ${databaseNow} as now`;
    this.#register = `insert into ${schema}.replicas as r (name, expires_at, lease, version)
      values ($1, ${end}, $2, $3) returning ${answer}`;
    this.#renew = `update ${schema}.replicas r set expires_at = ${end} where epoch = $1 returning ${answer}`;
    // Replicas that have ended stay until their tasks are taken over.
    this.#sweep = `delete from ${schema}.replicas r where r.expires_at < clock_timestamp() and not exists
      (select 1 from ${schema}.tasks t where t.holder = r.epoch and t.state in ('submitted', 'working'))`;
    this.#expire = `update ${schema}.replicas set expires_at = clock_timestamp() where epoch = $1`;
  }

  /** The epoch of this replica: the fencing token of its writes. */
  get epoch(): number {
    return this.#epoch;
  }

  /**
   * True if no other replica can have taken over a task of this one. Measured from the moment when the last renewal was
   * sent, so that the lease never ends earlier in the database.
   */
  get isCurrent(): boolean {
    return this.#context.clock.monotonic() < this.#validUntil;
  }

  /**
   * Changes when the lease has ended, before the tasks that this replica holds are checked. What a statement says about holders
   * is outdated if the term has changed since it was sent.
   */
  get term(): number {
    return this.#term;
  }

  /** True if other replicas used the store at the last heartbeat. */
  get hasOthers(): boolean {
    return this.#others > 0;
  }

  /**
   * Returns the current time of the database, in milliseconds since 1970, as exact as half of a round trip. Clocks of
   * replicas may differ, that of the database is the same for all.
   */
  databaseTime(): number {
    return this.#context.clock.monotonic() + this.#offset;
  }

  /** Called when a notification of another replica has arrived, before the next heartbeat counts it. */
  noticeOther(): void {
    if (this.#others === 0) this.#others = 1;
  }

  /** Registers this replica and starts its heartbeats. */
  async start(): Promise<void> {
    await this.#begin();
    const { clock, lease } = this.#context;
    this.#stop = clock.every(lease / heartbeatsPerLease, () => void this.heartbeat());
  }

  /** Renews the lease, or begins a new epoch if it was lost. */
  async heartbeat(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const sentAt = this.#context.clock.monotonic();
      const [row] = await this.#connection.queryAtOnce(this.#renew, [this.#epoch, this.#context.lease]);
      if (row) {
        // The answer may be late as well, for example if this process was suspended before it arrived.
        if (!this.isCurrent) {
          this.#term++;
          await this.#context.onLapsed();
        }
        this.#renewed(row, sentAt);
        await this.#connection.queryAtOnce(this.#sweep);
      } else {
        this.#term++;
        await this.#begin();
        this.#context.onLost();
      }
    } catch (error) {
      this.#context.onError(error);
    } finally {
      this.#isRenewing = false;
    }
  }

  /** Ends the lease, so that other replicas take over at once. */
  async end(): Promise<void> {
    this.#stop?.();
    this.#validUntil = 0;
    if (this.#epoch !== 0) await this.#connection.queryAtOnce(this.#expire, [this.#epoch]);
  }

  async #begin(): Promise<void> {
    const { name, version, lease, clock } = this.#context;
    const sentAt = clock.monotonic();
    const [row] = await this.#connection.queryAtOnce(this.#register, [name, lease, version]);
    if (row) this.#renewed(row, sentAt);
  }

  #renewed(row: PostgresRow, sentAt: number): void {
    this.#epoch = Number(row['epoch']);
    this.#others = Number(row['others']);
    this.#validUntil = sentAt + this.#context.lease;
    const receivedAt = this.#context.clock.monotonic();
    this.#offset = Number(row['now']) - (sentAt + receivedAt) / 2;
  }
}
