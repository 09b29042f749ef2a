import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { postgresFollowUpStore } from '../../../src/bridge/follow-ups/postgres-follow-up-store.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { postgresOwnershipRegister } from '../../../src/gateway/ownership/postgres-ownership-register.ts';
import { unrefClock } from '../../../src/primitives/clock.ts';
import { postgresTaskStore } from '../../../src/store/postgres.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { createTask, owner } from '../../contracts/task-store/actions.ts';
import { type CommandResult, runDragoman } from '../../support/cli/run-command.ts';
import { runInProcess } from '../../support/cli/run-in-process.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const server = usePostgres();
const folder = mkdtempSync(join(tmpdir(), 'dragoman-store-status-'));
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const store = (...args: string[]): Promise<CommandResult> =>
  runInProcess(['store', ...args], { env: { NO_COLOR: '1' } });
const at = (schema: string, user = 'test'): string =>
  `${server().url.replace('test@', `${user}@`)}?schema=${schema}`;
const immediately = { configuration: { returnImmediately: true } };

describe.skipIf(!hasPostgres)('dragoman store with PostgreSQL', () => {
  let pool: Pool;
  beforeAll(async () => {
    if (!hasPostgres) return;
    pool = new Pool({ connectionString: server().url, max: 2 });
    await pool.query('create role agent login');
  });
  afterAll(() => pool?.end());

  it('migrate creates the schema, and a user with the granted rights can do everything', async () => {
    const migrate = ['store', 'migrate', at('granted'), '--grant', 'agent'];
    const first = await runDragoman(migrate, { env: { NO_COLOR: '1' } }).ended;
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(
      /^- Create the tables .*\n(- .*\n)+- Grant the rights of a replica to agent\n/,
    );
    expect(first.stdout).toMatch(/The schema has version \d+ now\.\n$/);
    expect((await store('migrate', at('granted'))).stdout).toMatch(
      /^The schema has version \d+ already\.\n$/,
    );

    const options = { url: server().url.replace('test@', 'agent@'), schema: 'granted' };
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const taskStore = await postgresTaskStore(options);
        const process = () => new Promise<string>(() => {});
        const agent = defineAgent(
          { name: 'T', description: 'T', pushNotifications: true, process },
          { taskStore, push: { egress: { allowLoopback: true } } },
        );
        cleanups.push(
          async () => taskStore[Symbol.asyncDispose](),
          () => agent.close(),
        );
        await agent.ready();
        return { agent, taskStore };
      }),
    );
    const [one, two] = replicas;
    if (!one || !two) throw new Error('unreachable');
    const { id } = expectTask(await one.agent.send(userRequest('hi', {}, immediately)));
    await two.agent.createPushConfig({ id: 'p', taskId: id, url: 'http://127.0.0.1:9/' });
    await two.agent.deletePushConfig({ id: 'p', taskId: id });
    expect((await two.agent.cancelTask({ id })).status.state).toBe('canceled');
    expect((await two.agent.listTasks({})).totalSize).toBe(1);
    expect(await two.taskStore.expire(new Date(Date.now() + 60_000))).toBe(1);
    const register = await postgresOwnershipRegister(options);
    expect(await register.claimTask('a', 'ann', { taskId: 't', contextId: 'c' })).toBe('ann');
    await register.close?.();
    const followUps = await postgresFollowUpStore(options);
    expect(await followUps.take('unknown', { userId: 'ann', sessionId: undefined })).toBeUndefined();
    await followUps.close?.();
    expect((await store('status', at('granted', 'agent'))).code).toBe(0);
  });

  it('rejects a user without rights, and says what to do', async () => {
    for (const command of ['migrate', 'status'] as const) {
      if (command === 'status') await store('migrate', at('forbidden'));
      const { code, stderr } = await store(command, at('forbidden', 'agent'));
      expect(stderr).toContain('permission denied');
      expect(stderr).toContain('dragoman store migrate with --grant');
      expect(code).toBe(1);
    }
    const { stderr } = await store('migrate', at('forbidden'), '--grant', 'missing');
    expect(stderr).toContain('role "missing" does not exist');
  });

  it('status shows replicas, tasks by state and the push backlog', async () => {
    const open = async (replica: string) => {
      // No heartbeat renews a lease that the test ends.
      const clock = { ...unrefClock, every: () => () => {} };
      const taskStore = await postgresTaskStore({ url: server().url, schema: 'shown', replica, clock });
      cleanups.push(async () => taskStore[Symbol.asyncDispose]());
      return taskStore;
    };
    const [one] = [await open('one'), await open('two')];
    await createTask(one, 'a', ['working']);
    await createTask(one, 'b', ['working', 'completed']);
    await one.putPushConfig(owner, { id: 'p', taskId: 'a', url: 'http://127.0.0.1:9/' });
    const { stdout } = await store('status', at('shown'));
    expect(stdout).toMatch(
      /^postgres:\/\/127\.0\.0\.1:\d+\/postgres, schema version \d+\n\nREPLICA +VERSION/,
    );
    expect(stdout).toMatch(/^one +\d+\.\d+\.\d+\S* +[\d.]+ s ago +\S+( s)? +1$/m);
    expect(stdout).toMatch(/^two +\d+\.\d+\.\d+\S* +[\d.]+ s ago +\S+( s)? +0$/m);
    expect(stdout).toContain('tasks  1 completed, 1 working\n');
    expect(stdout).toContain('push   1 active webhooks, 2 undelivered notifications, 0 dead\n');

    await pool.query(
      `update shown.replicas set expires_at = clock_timestamp() - interval '1 minute' where name = 'one'`,
    );
    const json = JSON.parse((await store('status', at('shown'), '-o', 'json')).stdout);
    expect(json).toMatchObject({
      replicas: [
        { name: 'one', isAlive: false, heldTasks: 1, lease: 10_000 },
        { name: 'two', isAlive: true, heldTasks: 0 },
      ],
      tasks: { completed: 1, working: 1 },
      orphanedTasks: 1,
      push: { webhooks: 1, undelivered: 2, dead: 0 },
    });
    expect(json.replicas[0].heartbeatAge).toBeGreaterThanOrEqual(70_000);
  });

  it('status and migrate reject a missing, an older and a newer schema with a hint', async () => {
    const missing = await store('status', at('nowhere'));
    expect(missing.stderr).toContain('There is no task store in the schema nowhere');
    expect(missing.stderr).toContain('dragoman store migrate');
    expect(missing.code).toBe(1);
    await store('migrate', at('versions'));
    await pool.query('update versions.schema_version set version = 999');
    for (const command of ['status', 'migrate'])
      expect((await store(command, at('versions'))).stderr).toContain(
        'has version 999; this version of Dragoman',
      );
    await pool.query('update versions.schema_version set version = 1');
    expect((await store('status', at('versions'))).stderr).toMatch(
      /has version 1; .* needs \d+\n.*store migrate/,
    );
    expect((await store('status', 'postgres://nobody@127.0.0.1:9/none')).code).toBe(1);
  });
});

describe('dragoman store with SQLite', () => {
  // A file knows the processes that use it.
  const store = (...args: string[]): Promise<CommandResult> =>
    runDragoman(['store', ...args], { env: { NO_COLOR: '1' } }).ended;

  it('migrate creates the file, and status shows its process', async () => {
    const file = join(folder, 'tasks.db');
    expect((await store('status', `sqlite:${file}`)).stderr).toContain(`There is no task store in ${file}`);
    expect((await store('migrate', `sqlite:${file}`)).stdout).toBe(
      '- Create the tables\nThe schema has version 1 now.\n',
    );
    const taskStore = await sqliteTaskStore({ file });
    cleanups.push(async () => taskStore[Symbol.asyncDispose]());
    await createTask(taskStore, 'a', ['working']);
    const { stdout } = await store('status', `sqlite:${file}`, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      schemaVersion: 1,
      replicas: [{ name: expect.stringContaining(String(process.pid)), isAlive: true, heldTasks: 1 }],
      tasks: { working: 1 },
      orphanedTasks: 0,
    });
    expect((await store('status', `sqlite:${file}`)).stdout).toContain('tasks  1 working\n');
  });

  it('rejects memory, and --grant for a file, with exit code 2', async () => {
    for (const args of [
      ['status', 'memory'],
      ['migrate', 'memory'],
      ['migrate', `sqlite:${join(folder, 'never.db')}`, '--grant', 'agent'],
    ])
      expect((await store(...args)).code).toBe(2);
  });
});
