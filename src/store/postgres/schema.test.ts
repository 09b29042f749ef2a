import { Pool } from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { expectTask, userRequest } from '../../../test/support/engine/conversation.ts';
import { InterceptedPool } from '../../../test/support/store/intercepted-pool.ts';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import { defineAgent, type LocalAgent } from '../../engine/local-agent.ts';
import { serve } from '../../server/node/serve.ts';
import { migrateStore } from '../status/migrate-store.ts';
import { parseStoreUrl } from '../url/parse-store-url.ts';
import { postgresTaskStore } from '../postgres.ts';

const server = usePostgres();
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

async function startAgent(name: string, schema: string): Promise<LocalAgent> {
  const taskStore = await postgresTaskStore({ url: server().url, schema });
  const agent = defineAgent({ name, description: name, process: ({ text }) => text }, { taskStore });
  cleanups.push(async () => {
    await agent.close();
    await taskStore[Symbol.asyncDispose]();
  });
  return agent;
}

const refusal = {
  reason: 'UNAVAILABLE',
  message: 'The task store belongs to the agent "Weather"; this agent is "News"',
  hint: expect.stringContaining('?schema=NAME'),
};

describe.skipIf(!hasPostgres)('a schema that two agents use', () => {
  it('belongs to the first one, and its replicas share it', async () => {
    const weather = await startAgent('Weather', 'first');
    await weather.ready();
    const { id } = expectTask(await weather.send(userRequest('hi')));
    const news = await startAgent('News', 'first');
    await expect(news.ready()).rejects.toMatchObject(refusal);
    await expect(serve(news)).rejects.toMatchObject(refusal);
    const replica = await startAgent('Weather', 'first');
    await replica.ready();
    expect((await replica.getTask({ id })).status.state).toBe('completed');
  });

  it('belongs to the agent with the new name after a rename', async () => {
    await (await startAgent('Weather', 'renamed')).ready();
    const url = parseStoreUrl(`${server().url}?schema=renamed`);
    if (url.kind !== 'postgres') throw new Error('expected a PostgreSQL database');
    const { steps } = await migrateStore(url, { agent: 'News' });
    expect(steps).toEqual(['Give the store to the agent News']);
    await (await startAgent('News', 'renamed')).ready();
    const late = await startAgent('Weather', 'renamed');
    await expect(late.ready()).rejects.toThrow('belongs to the agent "News"');
  });
});

it.skipIf(!hasPostgres)('finds the holder of a task by the id of the task alone', async () => {
  const pool = new InterceptedPool(server().url);
  const taskStore = await postgresTaskStore({ pool, schema: 'holders', replica: 'one' });
  cleanups.push(async () => {
    await taskStore[Symbol.asyncDispose]();
    await pool.end();
  });
  for (const owner of ['ann', 'bob'])
    await taskStore.create(owner, { id: 'same', contextId: 'c', status: { state: 'submitted' } });
  let statement = '';
  pool.before = (text) => {
    if (text.includes('is_alive')) statement = text;
  };
  const holders = (await taskStore.replica?.findHolders('same')) ?? [];
  expect(holders.map(({ owner, replica }) => `${owner} ${replica}`).toSorted()).toEqual([
    'ann one',
    'bob one',
  ]);
  const client = await pool.connect();
  await client.query({ text: 'set enable_seqscan = off', values: [] });
  const { rows } = await client.query({ text: `explain ${statement.replace('$1', "'same'")}`, values: [] });
  client.release(true);
  // Not one lookup per owner, of whom there may be many.
  expect(JSON.stringify(rows)).toMatch(
    /tasks_by_id[^"]*"\},\{"QUERY PLAN":"\s+Index Cond: \(id_key = 'same'::text\)"/,
  );
});

it.skipIf(!hasPostgres)('upgrades the schema of an older version with its tasks', async () => {
  const first = await postgresTaskStore({ url: server().url, schema: 'older' });
  await first.create('ann', { id: 't', contextId: 'c', status: { state: 'submitted' } });
  await first[Symbol.asyncDispose]();
  const pool = new Pool({ connectionString: server().url });
  cleanups.push(() => pool.end());
  // As version 3 has left it.
  await pool.query(`drop table older.gateway_quotas; drop table older.agent; drop index older.tasks_by_id;
    create unique index tasks_by_id on older.tasks (owner, id_key); update older.schema_version set version = 3`);
  const second = await postgresTaskStore({ url: server().url, schema: 'older' });
  cleanups.push(async () => second[Symbol.asyncDispose]());
  expect((await second.open('ann', 't'))?.id).toBe('t');
  const { rows } = await pool.query('select version from older.schema_version');
  expect(rows).toEqual([{ version: 5 }]);
});
