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
import type { TaskStore } from '../../store/task-store.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import { openDatabase } from '../../store/sqlite/database.ts';
import { sqliteTaskStore } from '../../store/sqlite.ts';
import type { AgentDefinition, LogEntry, ProcessFunction } from '../agent-definition.ts';
import { defineAgent, type LocalAgent } from '../local-agent.ts';

const immediately = { configuration: { returnImmediately: true } };
const never: ProcessFunction = () => new Promise(() => {});

interface Place {
  /** What the process that dies has. */
  first(): Promise<TaskStore>;
  /** What the process after it finds. */
  second(first: TaskStore): Promise<TaskStore>;
  /** What it must say to take up what is there. */
  recovers?: boolean;
}

const folder = mkdtempSync(join(tmpdir(), 'dragoman-recovery-'));
let files = 0;

const places: [string, () => Place][] = [
  ['memory', () => ({ first: async () => memoryTaskStore(), second: async (first) => first })],
  [
    'SQLite',
    () => {
      const file = join(folder, `${++files}.db`);
      return {
        first: () => sqliteTaskStore({ file }),
        async second() {
          // Of the first nothing was heard for long.
          const database = await openDatabase(file);
          database.exec('update lease set seen = 0');
          database.close();
          return sqliteTaskStore({ file });
        },
      };
    },
  ],
  [
    'SQLite that is shared',
    () => {
      const file = join(folder, `${++files}.db`);
      const open = (): Promise<TaskStore> => sqliteTaskStore({ file, shared: true });
      return { first: open, second: open, recovers: true };
    },
  ],
];

describe.each(places)('an agent that begins again, with tasks in %s', (_where, make) => {
  let place: Place;
  let before: TaskStore;
  let after: TaskStore | undefined;
  const entries: LogEntry[] = [];

  beforeEach(async () => {
    place = make();
    before = await place.first();
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
    ledger: TaskStore,
    more: Partial<AgentDefinition> = {},
  ): LocalAgent =>
    defineAgent(
      { name: 'T', description: 'T', process, ...more },
      { taskStore: ledger, recoverTasks: place.recovers, log: (entry) => entries.push(entry) },
    );

  /** The agent of the next process; the one before is simply not there any more. */
  async function restart(process: ProcessFunction, more?: Partial<AgentDefinition>): Promise<LocalAgent> {
    after = await place.second(before);
    const agent = define(process, after, more);
    await agent.ready();
    return agent;
  }

  it('ends what was running, with a reason', async () => {
    const { id } = expectTask(await define(never, before).send(userRequest('hi', {}, immediately)));
    const agent = await restart(never);
    const task = await agent.getTask({ id });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/restarted/);
    expect(entries).toMatchObject([{ level: 'warn', taskId: id }]);
  });

  it('takes up what was running when it knows how', async () => {
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

  it('leaves a question open, and its answer begins a run of its own', async () => {
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

  it('does so after an orderly end too', async () => {
    const first = define(async (context) => {
      await context.ask('Which?');
    }, before);
    const { id } = expectTask(await first.send(userRequest('hi')));
    await first.close();
    const agent = await restart(({ text }) => text);
    expect(artifactTexts(expectTask(await agent.send(userRequest('L', { taskId: id }))))).toEqual(['L']);
  });

  it('does not run a message again that it has heard in its former life', async () => {
    const first = define(({ text }) => text, before);
    const sent = expectTask(await first.send(userRequest('hi', { messageId: 'm' })));
    const agent = await restart(() => 'run again');
    expect(await agent.send(userRequest('hi', { messageId: 'm' }))).toEqual(JSON.parse(JSON.stringify(sent)));
  });

  it('keeps its hands off when it shares the ledger', async () => {
    const { id } = expectTask(await define(never, before).send(userRequest('hi', {}, immediately)));
    after = await place.second(before);
    const agent = defineAgent(
      { name: 'T', description: 'T', process: never },
      { taskStore: after, recoverTasks: false },
    );
    await agent.ready();
    expect((await agent.getTask({ id })).status.state).toBe('working');
  });
});

it('tells whoever waits when the ledger is gone, and goes on', async () => {
  const ledger = await sqliteTaskStore({ file: ':memory:' });
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
    { taskStore: ledger, log: (entry) => entries.push(entry) },
  );
  const sent = reasonOf(agent.send(userRequest('hi')));
  await new Promise(setImmediate);
  await ledger[Symbol.asyncDispose]();
  go.resolve();
  expect(await sent).toBe('UNAVAILABLE');
  expect(entries.map(({ level }) => level)).toEqual(['error', 'error']);
  await agent.close();
});

describe('closing', () => {
  const define = (
    process: ProcessFunction,
    ledger: TaskStore,
    more: Partial<AgentDefinition> = {},
  ): LocalAgent => defineAgent({ name: 'T', description: 'T', process, ...more }, { taskStore: ledger });

  it('ends what runs, with a reason, and tells whoever waits', async () => {
    const ledger = memoryTaskStore();
    const stopped = createDeferred();
    const agent = define(({ signal }) => {
      signal.addEventListener('abort', stopped.resolve);
      return new Promise(() => {});
    }, ledger);
    const sent = agent.send(userRequest('hi'));
    await new Promise(setImmediate);
    await agent.close();
    await stopped.promise;
    const task = expectTask(await sent);
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/shut down/);
  });

  it('leaves what can be resumed to whoever comes next', async () => {
    const ledger = memoryTaskStore();
    const first = define(never, ledger, { resume: never });
    const { id } = expectTask(await first.send(userRequest('hi', {}, immediately)));
    await first.close();
    const second = define(never, ledger, { resume: () => 'resumed' });
    await second.ready();
    for await (const _event of second.subscribe({ id, afterSequence: 0 }));
    expect(artifactTexts(await second.getTask({ id }))).toEqual(['resumed']);
  });
});
