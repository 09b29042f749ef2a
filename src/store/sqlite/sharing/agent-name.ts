import { otherAgentError } from '../../durable/store-access-errors.ts';
import type { Database } from '../database.ts';

/**
 * Reserves a shared file for the agent with this name. The first agent gets it. Part of a transaction.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if it belongs to another agent, whose clients would see the tasks of this one.
 */
export function reserveFile(database: Database, name: string): void {
  database.prepare('insert or ignore into agent values (1, ?)').run([name]);
  const owner = String(database.prepare('select name from agent').get([])?.['name']);
  if (owner !== name) throw otherAgentError(owner, name, 'another file');
}

/** Gives a file to the agent with this name. */
export function assignFile(database: Database, name: string): void {
  database.prepare('insert or replace into agent values (1, ?)').run([name]);
}
