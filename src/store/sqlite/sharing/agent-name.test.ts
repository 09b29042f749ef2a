import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { expectTask, userRequest } from '../../../../test/support/engine/conversation.ts';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { sqliteTaskStore } from '../../sqlite.ts';
import { migrateStore } from '../../status/migrate-store.ts';

let file = '';
const cleanups: (() => PromiseLike<unknown>)[] = [];

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-agent-name-'));
  cleanups.push(async () => rmSync(folder, { recursive: true }));
  file = join(folder, 'tasks.db');
});
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

/** Creates an agent on the file of the current test, as another process does. */
async function createAgent(name: string): Promise<LocalAgent> {
  const taskStore = await sqliteTaskStore({ file, shared: true });
  const agent = defineAgent({ name, description: name, process: ({ text }) => text }, { taskStore });
  cleanups.push(
    () => taskStore[Symbol.asyncDispose](),
    () => agent.close(),
  );
  return agent;
}

it('lets one agent use a shared file, in several processes', async () => {
  const weather = await createAgent('Weather');
  await weather.ready();
  const { id } = expectTask(await weather.send(userRequest('hi')));
  await expect((await createAgent('News')).ready()).rejects.toMatchObject({
    reason: 'UNAVAILABLE',
    message: 'The task store belongs to the agent "Weather"; this agent is "News"',
    hint: expect.stringContaining('Use another file'),
  });
  const replica = await createAgent('Weather');
  await replica.ready();
  expect((await replica.getTask({ id })).status.state).toBe('completed');
});

it('gives a shared file to an agent with a new name', async () => {
  await (await createAgent('Weather')).ready();
  const { steps } = await migrateStore({ kind: 'sqlite', file, shared: true, limits: {} }, { agent: 'News' });
  expect(steps).toEqual(['Give the store to the agent News']);
  await (await createAgent('News')).ready();
  await expect((await createAgent('Weather')).ready()).rejects.toThrow('belongs to the agent "News"');
});
