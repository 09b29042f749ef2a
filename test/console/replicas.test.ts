import { Pool } from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { serveConsole } from '../../src/console/serve-console.ts';
import { defineAgent } from '../../src/engine/local-agent.ts';
import { serve } from '../../src/server/node/serve.ts';
import { postgresTaskStore } from '../../src/store/postgres.ts';
import { launchChromium } from '../support/console/chromium.ts';
import { expectTask, userRequest } from '../support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';
import { Tab } from './tab.ts';

const server = usePostgres();
const browser: Browser | undefined = await launchChromium();
const cleanups: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of cleanups.toReversed()) await end();
  await browser?.close();
});

describe.skipIf(!browser || !hasPostgres)('console with a task store of several replicas', () => {
  let tab: Tab;
  let pool: Pool;
  let taskId: string;

  beforeAll(async () => {
    const url = server().url;
    const taskStore = await postgresTaskStore({ url, replica: 'web-1' });
    const agent = defineAgent(
      { name: 'Slow', description: 'Never ends', process: () => new Promise<string>(() => {}) },
      { taskStore },
    );
    const served = await serve(agent);
    const read = await postgresTaskStore({ url, withoutLease: true });
    const running = await serveConsole({ agents: [{ url: served.url }], port: 0, taskStore: read });
    pool = new Pool({ connectionString: url, max: 1 });
    cleanups.push(
      () => pool.end(),
      async () => taskStore[Symbol.asyncDispose](),
      async () => read[Symbol.asyncDispose](),
      () => agent.close(),
      () => served.stop(0),
      () => running.stop(),
    );
    const sent = await agent.send(userRequest('hi', {}, { configuration: { returnImmediately: true } }));
    taskId = expectTask(sent).id;
    tab = await Tab.at(browser as Browser, running.url);
    cleanups.push(() => tab.close());
  });

  it('shows the replica that holds a task, and follows takeovers', async () => {
    await tab.show('Tasks');
    await tab.page.getByText(taskId).first().click();
    const facts = tab.page.getByRole('region', { name: 'Task', exact: true }).locator('.tasks-facts');
    await facts.getByText('web-1', { exact: true }).waitFor();
    await pool.query(
      `with taken as (insert into dragoman.replicas (name, expires_at) values ('web-2', now() + interval '1 hour') returning epoch)
      update dragoman.tasks set holder = epoch from taken`,
    );
    await facts.getByText('web-2', { exact: true }).waitFor();
    await pool.query(`update dragoman.replicas set expires_at = now() where name = 'web-2'`);
    // The live replica takes the task back.
    await facts.getByText('web-1', { exact: true }).waitFor();
  });
});
