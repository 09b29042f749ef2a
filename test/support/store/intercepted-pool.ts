import { Pool, type PoolClient } from 'pg';
import type { PostgresClient, PostgresPool } from '../../../src/store/postgres.ts';

/** Called with the text of each statement, before it is sent or after it was executed. May wait, or fail like a connection. */
type Interceptor = (text: string) => Promise<void> | void;

/** A pool of `pg` whose statements a test can delay, and whose answers it can lose. */
export class InterceptedPool implements PostgresPool {
  before: Interceptor = () => {};
  after: Interceptor = () => {};
  /** Returns a promise for a statement whose transaction must stay open until it resolves. */
  holdOpen: (text: string) => Promise<void> | undefined = () => undefined;
  readonly #pool: Pool;
  readonly #clients = new WeakMap<PoolClient, PostgresClient>();

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 6 });
  }

  async connect(): Promise<PostgresClient> {
    const client = await this.#pool.connect();
    const known = this.#clients.get(client);
    if (known) return known;
    const intercepted: PostgresClient = {
      query: async (query) => {
        await this.before(query.text);
        const open = this.holdOpen(query.text);
        if (open) await client.query('begin');
        const result = await client.query(query);
        await open;
        if (open) await client.query('commit');
        await this.after(query.text);
        return result;
      },
      on: (event: string, listener: (value: never) => void) => client.on(event as 'error', listener as never),
      release: (close?: boolean) => client.release(close),
    };
    this.#clients.set(client, intercepted);
    return intercepted;
  }

  on(event: string, listener: (value: never) => void): void {
    this.#pool.on(event as 'error', listener as (error: Error) => void);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Fails the next statement that contains a text after it was executed, as if its connection had broken. */
export function loseAnswer(pool: InterceptedPool, part: string): void {
  pool.after = (text) => {
    if (!text.includes(part)) return;
    pool.after = () => {};
    throw new Error('The connection broke');
  };
}
