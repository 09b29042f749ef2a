import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { PostgresConnection, type PostgresPool } from './connection.ts';

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
