import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  artifactTexts,
  createDeferred,
  reasonOf,
  statusTextOf,
  userRequest,
  expectTask,
} from '../../../test/support/engine/conversation.ts';
import { waitUntilTrue } from '../../../test/support/push/test-webhook.ts';
import { sharedViewOf } from '../../primitives/copies/shared-view.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import { openDatabase } from '../../store/sqlite/database.ts';
import { sqliteTaskStore } from '../../store/sqlite.ts';
import type { AgentDefinition, LogEntry, ProcessFunction } from '../agent-definition.ts';
import { defineAgent, type LocalAgent } from '../local-agent.ts';

const immediately = { configuration: { returnImmediately: true } };
const never: ProcessFunction = () => new Promise(() => {});

interface StoreSetup {
  /** Task store of the first process. */
  first(): Promise<TaskStore>;
  /** Task store of the process after the restart. */
  second(first: TaskStore): Promise<TaskStore>;
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-recovery-'));
let files = 0;

/** Simulates that the process that opened a file has ended. */
async function markAsEnded(file: string): Promise<void> {
  const database = await openDatabase(file);
  database.exec(`update lease set pid = ${2 ** 22 + 1}`);
  database.close();
}

const setups: [string, () => StoreSetup][] = [
  ['memory', () => ({ first: async () => memoryTaskStore(), second: async (first) => first })],
  [
    'SQLite',
    () => {
      const file = join(folder, `${++files}.db`);
      return {
        first: () => sqliteTaskStore({ file }),
        async second() {
          await markAsEnded(file);
          return sqliteTaskStore({ file });
        },
      };
    },
  ],
  [
    'shared SQLite',
    () => {
      const file = join(folder, `${++files}.db`);
      const open = (): Promise<TaskStore> => sqliteTaskStore({ file, shared: true });
      return {
        first: open,
        async second() {
          await markAsEnded(file);
          return open();
        },
      };
    },
  ],
];

describe.each(setups)('task recovery with %s', (_where, make) => {
  let setup: StoreSetup;
  let before: TaskStore;
  let after: TaskStore | undefined;
  const entries: LogEntry[] = [];

  beforeEach(async () => {
    setup = make();
    before = await setup.first();
    after = undefined;
    entries.length = 0;
  });

  afterEach(async () => {
    await before[Symbol.asyncDispose]();
    await after?.[Symbol.asyncDispose]();
    if (files > 0) rmSync(join(folder, `${files}.db`), { force: true });
  });

  const define = (
    process: ProcessFunction,
    taskStore: TaskStore,
    more: Partial<AgentDefinition> = {},
  ): LocalAgent =>
    defineAgent(
      { name: 'T', description: 'T', process, ...more },
      { taskStore, log: (entry) => entries.push(entry) },
    );

  /** Creates the agent of the next process. The first one is not closed, as after a crash. */
  async function restart(process: ProcessFunction, more?: Partial<AgentDefinition>): Promise<LocalAgent> {
    after = await setup.second(before);
    const agent = define(process, after, more);
    await agent.ready();
    return agent;
  }

  it('fails unfinished tasks with a message', async () => {
    const { id } = expectTask(await define(never, before).send(userRequest('hi', {}, immediately)));
    const agent = await restart(never);
    const task = await agent.getTask({ id });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/restarted/);
    expect(entries).toMatchObject([{ level: 'warn', taskId: id }]);
  });

  it('resumes unfinished tasks with resume()', async () => {
    const first = define(never, before);
    const { id } = expectTask(await first.send(userRequest('the work', {}, immediately), { owner: 'ann' }));
    const resumed = createDeferred();
    const agent = await restart(never, {
      async *resume({ text, task, call }) {
        yield `${text} of ${call.owner ?? ''} in ${task.id}`;
        resumed.resolve();
      },
    });
    await resumed.promise;
    const again = expectTask(
      await agent.send(userRequest('the work', { messageId: 'other', contextId: 'x' }, immediately)),
    );
    expect(again.id).not.toBe(id);
    const call = { owner: 'ann' };
    for await (const _event of agent.subscribe({ id, afterSequence: 0 }, call));
    const task = await agent.getTask({ id }, call);
    expect(task.status.state).toBe('completed');
    expect(artifactTexts(task)).toEqual([`the work of ann in ${id}`]);
  });

  it('keeps input-required tasks; the answer starts a new run', async () => {
    const first = define(async (context) => {
      await context.ask('Which?');
      return 'of the first';
    }, before);
    const { id } = expectTask(await first.send(userRequest('hi')));
    const agent = await restart(({ text }) => `second: ${text}`);
    expect((await agent.getTask({ id })).status.state).toBe('input-required');
    const done = expectTask(await agent.send(userRequest('L', { taskId: id })));
    expect(artifactTexts(done)).toEqual(['second: L']);
  });

  it('keeps input-required tasks after close()', async () => {
    const first = define(async (context) => {
      await context.ask('Which?');
    }, before);
    const { id } = expectTask(await first.send(userRequest('hi')));
    await first.close();
    const agent = await restart(({ text }) => text);
    expect(artifactTexts(expectTask(await agent.send(userRequest('L', { taskId: id }))))).toEqual(['L']);
  });

  it('recognizes repeated requests after a restart', async () => {
    const first = define(({ text }) => text, before);
    const request = userRequest('hi', { messageId: 'm' }, { idempotencyKey: 'k' });
    const sent = expectTask(await first.send(request));
    const agent = await restart(() => 'run again');
    expect(await agent.send(request)).toEqual(JSON.parse(JSON.stringify(sent)));
  });

  it('leaves tasks unchanged that clients cancel during the recovery', async () => {
    const first = define(never, before);
    const ids: string[] = [];
    for (let n = 0; n < 600; n++)
      ids.push(expectTask(await first.send(userRequest(`${n}`, {}, immediately))).id);
    after = await setup.second(before);
    const agent = define(never, after);
    const recovery = agent.ready();
    // The first is part of the first batch, the last one of the last batch.
    const canceled = [ids[0], ids[300], ids.at(-1)].map((id = '') => agent.cancelTask({ id }));
    const results = await Promise.allSettled(canceled);
    await recovery;
    // In a shared store, the last ones are taken over after that.
    await waitUntilTrue(async () => (await after?.listUnfinished())?.length === 0);
    const states = new Map(
      (await Promise.all(ids.map((id) => agent.getTask({ id })))).map((task) => [task.id, task.status.state]),
    );
    expect(states.get(ids.at(-1) ?? '')).toBe('canceled');
    for (const [n, id] of [ids[0], ids[300], ids.at(-1)].entries())
      expect(states.get(id ?? '')).toBe(results[n]?.status === 'fulfilled' ? 'canceled' : 'failed');
    const failed = [...states.values()].filter((state) => state === 'failed');
    expect(failed.length + results.filter(({ status }) => status === 'fulfilled').length).toBe(600);
    expect(entries.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('continues a task that the store could not read at first', async () => {
    const { id } = expectTask(await define(never, before).send(userRequest('hi', {}, immediately)));
    after = await setup.second(before);
    const store = sharedViewOf(after);
    const open = store.open.bind(store);
    let failures = 2;
    store.open = (owner, taskId) => {
      if (failures-- > 0) throw new A2AError('UNAVAILABLE');
      return open(owner, taskId);
    };
    const agent = define(never, after, { resume: ({ text }) => `resumed ${text}` });
    await agent.ready();
    for await (const _event of agent.subscribe({ id, afterSequence: 0 }));
    expect(artifactTexts(await agent.getTask({ id }))).toEqual(['resumed hi']);
  });

  it('recovers no task with recoverTasks: false', async () => {
    const { id } = expectTask(await define(never, before).send(userRequest('hi', {}, immediately)));
    after = await setup.second(before);
    const agent = defineAgent(
      { name: 'T', description: 'T', process: never },
      { taskStore: after, recoverTasks: false },
    );
    await agent.ready();
    expect((await agent.getTask({ id })).status.state).toBe('working');
  });
});

it('rejects waiting requests when the task store fails and stays usable', async () => {
  const taskStore = await sqliteTaskStore({ file: ':memory:' });
  const go = createDeferred();
  const entries: LogEntry[] = [];
  const agent = defineAgent(
    {
      name: 'T',
      description: 'T',
      async *process() {
        await go.promise;
        yield 'x';
      },
    },
    { taskStore, log: (entry) => entries.push(entry) },
  );
  const sent = reasonOf(agent.send(userRequest('hi')));
  await new Promise(setImmediate);
  await taskStore[Symbol.asyncDispose]();
  go.resolve();
  expect(await sent).toBe('UNAVAILABLE');
  expect(entries.map(({ level }) => level)).toEqual(['error', 'error']);
  await agent.close();
});

it('is ready after the first takeover, while others are left', async () => {
  const taskStore = await sqliteTaskStore({ file: join(folder, `${++files}.db`), shared: true });
  const store = sharedViewOf(taskStore);
  const [taken, go] = [createDeferred(), createDeferred()];
  let takeovers = 0;
  store.takeOver = async () => {
    if (takeovers++ === 0) return [{ owner: '', id: 'gone' }];
    taken.resolve();
    await go.promise;
    return [];
  };
  const agent = defineAgent({ name: 'T', description: 'T', process: ({ text }) => text }, { taskStore });
  await agent.ready();
  await taken.promise;
  expect(expectTask(await agent.send(userRequest('hi'))).status.state).toBe('completed');
  go.resolve();
  await agent.close();
  await taskStore[Symbol.asyncDispose]();
});

describe('close()', () => {
  const define = (
    process: ProcessFunction,
    taskStore: TaskStore,
    more: Partial<AgentDefinition> = {},
  ): LocalAgent => defineAgent({ name: 'T', description: 'T', process, ...more }, { taskStore });

  it('fails running tasks with a message and ends waiting requests', async () => {
    const taskStore = memoryTaskStore();
    const stopped = createDeferred();
    const agent = define(({ signal }) => {
      signal.addEventListener('abort', stopped.resolve);
      return new Promise(() => {});
    }, taskStore);
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    await agent.close();
    await stopped.promise;
    const task = expectTask(await sent);
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/shut down/);
  });

  it('keeps tasks that can be resumed', async () => {
    const taskStore = memoryTaskStore();
    const first = define(never, taskStore, { resume: never });
    const { id } = expectTask(await first.send(userRequest('hi', {}, immediately)));
    await first.close();
    const second = define(never, taskStore, { resume: () => 'resumed' });
    await second.ready();
    for await (const _event of second.subscribe({ id, afterSequence: 0 }));
    expect(artifactTexts(await second.getTask({ id }))).toEqual(['resumed']);
  });
});
