import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { reasonOf } from '../../../test/support/engine/conversation.ts';
import { type PostgresClient, PostgresConnection, type PostgresPool } from './connection.ts';

it('survives a connection that fails in the moment in which it is established', () => {
  const pool = new EventEmitter();
  const connection = new PostgresConnection(pool as unknown as PostgresPool, {
    statementTimeout: 1_000,
    prepare: true,
    maxConnections: 4,
    keepPlans: false,
  });
  const client = new EventEmitter();
  pool.emit('connect', client);
  // Without a listener, the event would end the process.
  expect(() => client.emit('error', new Error('terminating connection'))).not.toThrow();
  expect(connection.failures).toBe(0);
});

it.each([{ keepPlans: false }, { keepPlans: true }])(
  'gives up when the pool or a new connection does not respond, with %o',
  async ({ keepPlans }) => {
    const pool = new EventEmitter();
    const waiting: ((client: PostgresClient) => void)[] = [];
    const released: (boolean | undefined)[] = [];
    const client = Object.assign(new EventEmitter(), {
      query: () => new Promise<never>(() => {}),
      release: (close?: boolean) => released.push(close),
    }) as unknown as PostgresClient;
    const connect = (): Promise<PostgresClient> =>
      keepPlans ? Promise.resolve(client) : new Promise((resolve) => waiting.push(resolve));
    const connection = new PostgresConnection(Object.assign(pool, { connect }) as unknown as PostgresPool, {
      statementTimeout: 20,
      prepare: true,
      maxConnections: 4,
      keepPlans,
    });
    expect(await reasonOf(connection.query('select 1'))).toBe('UNAVAILABLE');
    for (const resolve of waiting) resolve(client);
    await new Promise((resolve) => setImmediate(resolve));
    // A late connection is returned to the pool, one that does not respond is closed.
    expect(released).toEqual([keepPlans ? true : undefined]);
  },
);
