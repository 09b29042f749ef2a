import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { postgresTaskStore } from '../../../src/store/postgres.ts';
import { findFreePort } from '../../support/http/free-port.ts';
import { hasPgBouncer, PgBouncer } from '../../support/store/pgbouncer.ts';
import { PostgresServer } from '../../support/store/postgres-server.ts';
import type { AgentRun, FinalState } from '../history/history.ts';
import { type Relay, Relays } from './relays.ts';
import { ReplicaProcess } from './replica-process.ts';
import { countUnfinished, installAudit, readLogs } from './store-audit.ts';

/** Milliseconds of the lease: as short as possible, so that many takeovers fit into a test. */
const lease = 1_000;

/** Milliseconds by which the clock of each replica differs. */
const clockOffsets = [0, 5 * 60_000, -5 * 60_000];

/** Share of the requests to a suspended replica that a load balancer sends elsewhere, because its health check fails. */
const avoidedShare = 0.8;

/** Three replicas on one PostgreSQL, each behind its own TCP proxy; the connections of one also pass PgBouncer. */
export class Cluster {
  readonly lease = lease;
  readonly replicas: ReplicaProcess[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'dragoman-chaos-'));
  readonly #runsFile = join(this.#folder, 'runs.jsonl');
  #postgres!: PostgresServer;
  #relays!: Relays;
  #bouncer: PgBouncer | undefined;
  #pool!: Pool;

  static async start(): Promise<Cluster> {
    const cluster = new Cluster();
    await cluster.#start();
    return cluster;
  }

  async #start(): Promise<void> {
    writeFileSync(this.#runsFile, '');
    this.#postgres = await PostgresServer.start(true);
    this.#pool = new Pool({ connectionString: this.#postgres.url });
    this.#pool.on('error', () => {});
    const taskStore = await postgresTaskStore({ pool: this.#pool, withoutLease: true });
    await taskStore[Symbol.asyncDispose]();
    await installAudit(this.#pool);
    if (hasPgBouncer) this.#bouncer = await PgBouncer.start(this.#postgres.port);
    const { port: direct } = this.#postgres;
    this.#relays = await Relays.start([direct, direct, this.#bouncer?.port ?? direct]);
    for (const [index, relay] of this.relays.entries()) {
      const isPooled = index === 2 && this.#bouncer !== undefined;
      const databaseUrl = `postgres://test@127.0.0.1:${relay.port}/postgres`;
      const port = await findFreePort();
      const settings = {
        index,
        port,
        databaseUrl,
        lease,
        runsFile: this.#runsFile,
        isPooled,
        clockOffset: clockOffsets[index] ?? 0,
      };
      this.replicas.push(new ReplicaProcess(settings));
    }
    await Promise.all(this.replicas.map((each) => each.start()));
  }

  get relays(): readonly Relay[] {
    return this.#relays.all;
  }

  get bouncer(): PgBouncer | undefined {
    return this.#bouncer;
  }

  /** Returns the URL of any replica, as a load balancer chooses it. */
  chooseUrl(random: () => number): string {
    const first = Math.floor(random() * this.replicas.length);
    const isAvoided = this.replicas[first]?.isSuspended && random() < avoidedShare;
    return this.replicas[(first + (isAvoided ? 1 : 0)) % this.replicas.length]?.url ?? '';
  }

  /** Kills the database and starts it again. */
  async crashDatabase(pause: () => Promise<void>): Promise<void> {
    await this.#postgres.halt('SIGKILL');
    await pause();
    for (;;) {
      try {
        await this.#postgres.launch();
        return;
      } catch (error) {
        // The processes of its connections end a moment later and keep its memory until then.
        if (!/in use|another server|pre-existing/.test(String(error))) throw error;
      }
    }
  }

  /** Returns the number of tasks that have not ended and of webhooks that have not received everything. */
  async countUnfinished(): Promise<number> {
    const { tasks, deliveries } = await countUnfinished(this.#pool);
    return tasks + deliveries;
  }

  async readFinalState(): Promise<FinalState> {
    const lines = readFileSync(this.#runsFile, 'utf8').split('\n').filter(Boolean);
    return { logs: await readLogs(this.#pool), runs: lines.map((line) => JSON.parse(line) as AgentRun) };
  }

  async stop(): Promise<void> {
    for (const replica of this.replicas) replica.resume();
    await Promise.all(this.replicas.map((each) => each.kill('SIGKILL')));
    await this.#pool.end();
    await this.#relays.stop();
    await this.#bouncer?.remove();
    await this.#postgres.remove();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
