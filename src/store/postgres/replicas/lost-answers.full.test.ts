import { describe, expect, it } from 'vitest';
import {
  artifactTexts,
  createDeferred,
  expectTask,
  reasonOf,
  userRequest,
} from '../../../../test/support/engine/conversation.ts';
import { TestWebhook, waitUntilTrue } from '../../../../test/support/push/test-webhook.ts';
import { loseAnswer } from '../../../../test/support/store/intercepted-pool.ts';
import { hasPostgres } from '../../../../test/support/store/postgres-server.ts';
import { stoppedClock, useReplicaStores } from '../../../../test/support/store/replica-stores.ts';
import type { AgentDefinition } from '../../../engine/agent-definition.ts';
import { textOf } from '../../../protocol/part.ts';
import type { Task } from '../../../protocol/task.ts';

const replicas = useReplicaStores();
const { open, openPool, start } = replicas;

const newTask = (id: string): Task => ({ id, contextId: 'c', status: { state: 'submitted' } });
const commit = 'with created as';
const resume: Partial<AgentDefinition> = { resume: ({ text }) => `resumed ${text}` };

describe.skipIf(!hasPostgres)('a replica that loses the answer of the database', () => {
  it('continues a task that was created although the request failed', async () => {
    const one = await open();
    const agent = await start(one, resume);
    loseAnswer(one.pool, commit);
    const request = userRequest('hi', { messageId: 'm' });
    expect(await reasonOf(agent.send(request))).toBe('UNAVAILABLE');
    await waitUntilTrue(() => one.taskStore.outage?.() === undefined);
    expect(artifactTexts(expectTask(await agent.send(request)))).toEqual(['resumed hi']);
  });

  it('continues a task that it took over without learning of it', async () => {
    const dead = await open({ lease: 1_000, ...stoppedClock() });
    await dead.taskStore.create('', { ...newTask('t'), history: [{ ...userRequest('hi').message }] });
    const one = await open();
    loseAnswer(one.pool, 'orphans as');
    const agent = await start(one, resume);
    await waitUntilTrue(async () => (await agent.getTask({ id: 't' })).status.state === 'completed');
  });

  it('continues all tasks that it took over although it could not read one of them', async () => {
    const dead = await open({ ...stoppedClock() });
    const one = await open();
    const other = openPool();
    for (const id of ['a', 'b']) {
      await dead.taskStore.create('', { ...newTask(id), history: [{ ...userRequest(id).message }] });
      await one.taskStore.open('', id);
    }
    await other.query(`update ${replicas.schema}.replicas set expires_at = clock_timestamp()
      where epoch = (select min(epoch) from ${replicas.schema}.replicas)`);
    let reads = 0;
    one.pool.before = (text) => {
      if (text.includes('string_agg') && ++reads === 2) throw new Error('The connection broke');
    };
    await start(one, resume);
    await waitUntilTrue(async () => {
      const { rows } = await other.query(`select from ${replicas.schema}.tasks where state = 'completed'`);
      return rows.length === 2;
    });
    expect(reads).toBeGreaterThan(1);
  });

  it('keeps a task that it claimed again after it had lost it', async () => {
    const one = await open();
    const created = await (await open()).taskStore.create('', newTask('t'));
    created.release?.();
    await created.whenPersisted();
    const log = await one.taskStore.open('', 't');
    if (!log) throw new Error('expected a task');
    const [read, go] = [createDeferred(), createDeferred()];
    const other = openPool();
    const isRead = (text: string): boolean => text.includes('string_agg') && text.includes('t.key = $1');
    one.pool.before = async (text) => {
      if (isRead(text)) await other.query(`update ${replicas.schema}.tasks set holder = null`);
    };
    one.pool.after = async (text) => {
      if (!isRead(text)) return;
      one.pool.before = one.pool.after = () => {};
      read.resolve();
      await go.promise;
    };
    const first = log.claim?.();
    await read.promise;
    expect(await log.claim?.()).toBe(true);
    log.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } });
    const stored = log.whenPersisted();
    go.resolve();
    expect(await first).toBe(true);
    await stored;
    expect(log.task().status.state).toBe('working');
  });

  it('delivers to a webhook that it took over without learning of it', async () => {
    const hook = await new TestWebhook().start();
    replicas.onEnd(() => hook.stop());
    const dead = await open({ lease: 1_000, ...stoppedClock() });
    await dead.taskStore.create('', newTask('t'));
    await dead.taskStore.putPushConfig('', { taskId: 't', id: 'p', url: hook.url });
    const one = await open();
    loseAnswer(one.pool, 'update "' + replicas.schema + '".push_configs p set holder');
    await start(one, {});
    await waitUntilTrue(async () => (await one.taskStore.listDeliveries()).length === 0);
    expect(hook.accepted.map(({ id }) => id)).toEqual(['t:p:1', 't:p:2']);
  });

  it('registers the webhook of a repeated message, and does not fail its task', async () => {
    const hook = await new TestWebhook().start();
    replicas.onEnd(() => hook.stop());
    const one = await open();
    const agent = await start(one, resume);
    one.pool.before = (text) => {
      if (!text.includes('.push_configs (task')) return;
      one.pool.before = () => {};
      throw new Error('The connection broke');
    };
    const configuration = { pushConfig: { url: hook.url } };
    const request = userRequest('hi', { messageId: 'm' }, { configuration });
    expect(await reasonOf(agent.send(request))).toBe('UNAVAILABLE');
    await waitUntilTrue(() => one.taskStore.outage?.() === undefined);
    const { id, status } = expectTask(await agent.send(request));
    expect(status.state).toBe('completed');
    await agent.send(request);
    await waitUntilTrue(async () => (await one.taskStore.listDeliveries()).length === 0);
    const numbers = hook.accepted.map((each) => Number(each.id.split(':').at(-1)));
    expect(numbers).toEqual(numbers.map((_, n) => n + 1));
    expect((await agent.listPushConfigs({ taskId: id })).configs).toHaveLength(1);
  });
});

describe.skipIf(!hasPostgres)('a replica that closes during an outage', () => {
  it('ends although an attempt to write succeeds after that', async () => {
    const { pool, taskStore } = await open({ wakeUps: false });
    const log = await taskStore.create('', newTask('t'));
    const working = { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } } as const;
    pool.before = (text) => {
      if (text.includes(commit)) throw new Error('The connection broke');
    };
    log.append({ ...working });
    await expect(log.whenPersisted()).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    const [sent, go, done] = [createDeferred(), createDeferred(), createDeferred()];
    pool.before = async (text) => {
      if (!text.includes(commit)) return;
      sent.resolve();
      await go.promise;
    };
    pool.after = (text) => {
      if (text.includes(commit)) done.resolve();
    };
    await sent.promise;
    log.append({ ...working });
    await taskStore[Symbol.asyncDispose]();
    go.resolve();
    await done.promise;
    // A loop that never ends would block this.
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe.skipIf(!hasPostgres)('a replica whose lease ends', () => {
  it('does not show an old state of a task that it has just created', async () => {
    const { clock, tick } = stoppedClock();
    const slow = await open({ lease: 1_000, clock, wakeUps: false });
    const answer = createDeferred();
    slow.pool.after = (text) => (text.includes(commit) ? answer.promise : undefined);
    const creating = slow.taskStore.create('', newTask('t'));
    const other = await open();
    await waitUntilTrue(async () => ((await other.taskStore.takeOver?.()) ?? []).length === 1);
    const log = await other.taskStore.open('', 't');
    log?.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'completed' } });
    await log?.whenPersisted();
    // It wakes up and renews its lease before it reads the answer.
    slow.pool.after = () => {};
    const renewed = createDeferred();
    slow.pool.after = (text) => {
      if (text.includes('set expires_at')) renewed.resolve();
    };
    tick();
    await renewed.promise;
    answer.resolve();
    const created = await creating;
    expect(created.task().status.state).toBe('completed');
    expect((await slow.taskStore.open('', 't'))?.task().status.state).toBe('completed');
  });

  it('shows the events of the new holder before it has noticed the takeover', async () => {
    const slow = await open({ lease: 1_000, clock: stoppedClock().clock, wakeUps: false });
    await slow.taskStore.create('', newTask('t'));
    const other = await open();
    await waitUntilTrue(async () => ((await other.taskStore.takeOver?.()) ?? []).length === 1);
    const log = await other.taskStore.open('', 't');
    log?.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'completed' } });
    await log?.whenPersisted();
    expect((await slow.taskStore.open('', 't'))?.task().status.state).toBe('completed');
  });

  it('notices a takeover that is committed after it has renewed its lease', async () => {
    const { clock, tick } = stoppedClock();
    const slow = await open({ lease: 1_000, clock, wakeUps: false });
    await slow.taskStore.create('', newTask('t'));
    // Its periodic checks must not take the task over before the test does.
    const other = await open({ lease: 60_000, clock: stoppedClock().clock });
    const watcher = openPool();
    const count = async (text: string): Promise<number> => (await watcher.query(text)).rows.length;
    await waitUntilTrue(
      async () =>
        (await count(`select 1 from ${replicas.schema}.replicas where expires_at < clock_timestamp()`)) > 0,
    );
    const [begun, go] = [createDeferred(), createDeferred()];
    other.pool.holdOpen = (text) => {
      if (!text.includes('orphans as')) return undefined;
      begun.resolve();
      return go.promise;
    };
    const taking = other.taskStore.takeOver?.();
    await begun.promise;
    const taken = `select 1 from pg_stat_activity where state = 'idle in transaction' and query like '%orphans as%'`;
    await waitUntilTrue(async () => (await count(taken)) > 0);
    let isRenewed = false;
    slow.pool.after = (text) => {
      if (text.includes('set expires_at')) isRenewed = true;
    };
    tick();
    await waitUntilTrue(
      async () =>
        isRenewed || (await count(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)) > 0,
    );
    go.resolve();
    expect(await taking).toHaveLength(1);
    await waitUntilTrue(() => isRenewed);
    const log = await other.taskStore.open('', 't');
    log?.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'completed' } });
    await log?.whenPersisted();
    expect((await slow.taskStore.open('', 't'))?.task().status.state).toBe('completed');
  });

  it('cancels a task at the new holder if its own cancellation could not be stored', async () => {
    const slow = await open({ lease: 1_000, wakeUps: false, clock: stoppedClock().clock });
    const resumed = createDeferred();
    const never = {
      process: () => new Promise<string>(() => {}),
      resume: () => {
        resumed.resolve();
        return new Promise<string>(() => {});
      },
    };
    const agent = await start(slow, never);
    const immediately = { configuration: { returnImmediately: true } };
    const { id } = expectTask(await agent.send(userRequest('hi', {}, immediately)));
    const [sent, go] = [createDeferred(), createDeferred()];
    slow.pool.before = async (text) => {
      if (!text.includes(commit)) return;
      sent.resolve();
      await go.promise;
    };
    const first = agent.cancelTask({ id });
    await sent.promise;
    const second = agent.cancelTask({ id });
    const successor = await start(await open(), never);
    await resumed.promise;
    go.resolve();
    for (const { status } of [await first, await second]) expect(status.state).toBe('canceled');
    expect((await successor.getTask({ id })).status.state).toBe('canceled');
  });

  it('rejects a reply that it could not store, because another replica has answered', async () => {
    const runs: string[] = [];
    const definition = (name: string): Partial<AgentDefinition> => ({
      process: async ({ text }) => {
        if (text === 'turn') return { state: 'input-required' };
        runs.push(`${name} ${text}`);
        return text;
      },
    });
    const slow = await open({ lease: 1_000, wakeUps: false, clock: stoppedClock().clock });
    const agent = await start(slow, definition('slow'));
    const { id } = expectTask(await agent.send(userRequest('turn')));
    const sent = createDeferred();
    const go = createDeferred();
    slow.pool.before = async (text) => {
      if (!text.includes(commit)) return;
      sent.resolve();
      await go.promise;
    };
    const refused = reasonOf(agent.send(userRequest('old', { taskId: id })));
    await sent.promise;
    const other = await start(await open(), definition('other'));
    await waitUntilTrue(async () => {
      const result = await other.send(userRequest('new', { taskId: id })).catch(() => undefined);
      return result !== undefined && expectTask(result).status.state === 'completed';
    });
    go.resolve();
    expect(await refused).toBe('UNSUPPORTED_OPERATION');
    expect(artifactTexts(await agent.getTask({ id }))).toEqual(['new']);
    expect(runs).toEqual(['other new']);
  });

  it('answers a repeated message with the result of the new holder', async () => {
    const go = createDeferred();
    const slow = await open({ lease: 1_000, wakeUps: false, clock: stoppedClock().clock });
    const agent = await start(slow, {
      async *process() {
        yield 'a';
        await go.promise;
        yield 'b';
      },
    });
    const request = userRequest('hi', { messageId: 'm' });
    const first = agent.send(request);
    await waitUntilTrue(async () => (await agent.listTasks({})).totalSize === 1);
    const other = await start(await open(), {
      resume: ({ task }) => `after ${textOf(task.artifacts?.[0]?.parts ?? [])}`,
    });
    await waitUntilTrue(async () => (await other.listTasks({ status: 'completed' })).totalSize === 1);
    go.resolve();
    const results = await Promise.all([first, agent.send(request), agent.send(request)]);
    for (const result of results) expect(expectTask(result).status.state).toBe('completed');
  });
});
