import { A2AError } from '../../protocol/errors.ts';
import type { PostgresConnection } from './connection.ts';

/**
 * Reserves a task store for the agent with this name. The first agent gets it.
 *
 * @throws {@link A2AError} `UNAVAILABLE` if it belongs to another agent, whose clients would see the tasks of this one.
 */
export async function reserveSchema(
  connection: PostgresConnection,
  schema: string,
  name: string,
): Promise<void> {
  await connection.query(`insert into ${schema}.agent values (1, $1) on conflict do nothing`, [name]);
  const [row] = await connection.query(`select name from ${schema}.agent`);
  const owner = String(row?.['name']);
  if (owner === name) return;
  throw new A2AError(
    'UNAVAILABLE',
    `The task store belongs to the agent "${owner}"; this agent is "${name}"`,
    {
      hint: 'Use another schema (?schema=NAME) for this agent. If the agent was renamed, run dragoman store migrate with --agent-name and the new name.',
    },
  );
}

/** Gives a task store to the agent with this name. */
export async function assignSchema(
  connection: PostgresConnection,
  schema: string,
  name: string,
): Promise<void> {
  const text = `insert into ${schema}.agent values (1, $1) on conflict (id) do update set name = excluded.name`;
  await connection.query(text, [name]);
}
