import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  collectStream,
  artifactTexts,
  createDeferred,
  reasonOf,
  statusTextOf,
  userRequest,
  statesOf,
  expectTask,
} from '../support/engine/conversation.ts';
import { waitUntilTrue, TestWebhook } from '../support/push/test-webhook.ts';
import { textOf } from '../../src/protocol/part.ts';
import type { Task } from '../../src/protocol/task.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import type { AgentOptions, ProcessFunction } from '../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../src/engine/local-agent.ts';

const immediately = { configuration: { returnImmediately: true } };
const never: ProcessFunction = () => new Promise(() => {});

/** Opens a task store of one process on the storage of the current test. */
type OpenReplica = (options: ReplicaOptions) => Promise<TaskStore>;

/** Options of one process. */
export interface ReplicaOptions {
  /** True for a process that is suspended: it sends no heartbeats and reads nothing by itself. */
  readonly isSuspended: boolean;
}

/**
 * Declares the contract of agents that share a task store. Each agent has its own task store on the same storage, as in
 * another process.
 *
 * @param openReplica - opens a task store; the lease of a suspended one takes one second.
 * @param reset - empties the storage.
 */
export function describeReplicas(
  name: string,
  openReplica: OpenReplica,
  reset: () => Promise<void>,
  { isSkipped = false } = {},
): void {
  let cleanups: (() => Promise<unknown>)[];

  beforeEach(async () => {
    cleanups = [];
    if (!isSkipped) await reset();
  });

  afterEach(async () => {
    for (const end of cleanups.toReversed()) await end();
  });

  async function open(isSuspended = false): Promise<TaskStore> {
    const taskStore = await openReplica({ isSuspended });
    cleanups.push(async () => taskStore[Symbol.asyncDispose]());
    return taskStore;
  }

  /** Simulates an agent in another process: its own task store on the same file. */
  async function createAgent(
    process: ProcessFunction,
    options: AgentOptions = {},
    resume?: ProcessFunction,
  ): Promise<LocalAgent> {
    const agent = defineAgent(
      {
        name: 'T',
        description: 'T',
        pushNotifications: true,
        idempotency: 'message-id',
        process,
        ...(resume && { resume }),
      },
      { taskStore: await open(), push: { egress: { allowLoopback: true } }, ...options },
    );
    cleanups.push(() => agent.close());
    await agent.ready();
    return agent;
  }

  describe.skipIf(isSkipped)(`agents that share ${name}`, () => {
    it('do not recover unfinished tasks of each other by default', async () => {
      const one = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const two = await createAgent(never);
      expect((await two.getTask({ id })).status.state).toBe('working');
      expect((await one.getTask({ id })).status.state).toBe('working');
    });

    it('leave tasks of an agent that runs alone, also with recoverTasks', async () => {
      const one = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const two = await createAgent(never, { recoverTasks: true });
      expect((await two.getTask({ id })).status.state).toBe('working');
    });

    it('stream events of each other', async () => {
      const go = createDeferred();
      const one = await createAgent(async function* () {
        yield 'a';
        await go.promise;
        yield 'b';
      });
      const two = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const events = two.subscribe({ id })[Symbol.asyncIterator]();
      expect((await events.next()).value).toMatchObject({ kind: 'task' });
      go.resolve();
      const rest = await collectStream({ [Symbol.asyncIterator]: () => events });
      expect(statesOf(rest).at(-1)).toBe('completed');
      expect(artifactTexts(await two.getTask({ id }))).toEqual(['ab']);
    });

    it('deduplicate a message sent to both', async () => {
      const one = await createAgent(() => 'of one');
      const two = await createAgent(() => 'of two');
      const sent = expectTask(await one.send(userRequest('hi', { messageId: 'm' })));
      expect(expectTask(await two.send(userRequest('hi', { messageId: 'm' }))).id).toBe(sent.id);
    });

    it('continue an input-required task whose run has ended', async () => {
      const one = await createAgent(() => ({ state: 'input-required' }));
      const two = await createAgent(({ text }) => text);
      const { id } = expectTask(await one.send(userRequest('hi')));
      expect(artifactTexts(expectTask(await two.send(userRequest('L', { taskId: id }))))).toEqual(['L']);
    });

    it('pass the answer to the agent that asked, and return its result', async () => {
      const one = await createAgent(async (context) => {
        const first = await context.ask('Which?');
        const second = await context.ask('Sure?');
        return `${textOf(first.parts)} ${textOf(second.parts)}`;
      });
      const two = await createAgent(({ text }) => `of two: ${text}`);
      const { id } = expectTask(await one.send(userRequest('hi')));
      const asked = expectTask(await two.send(userRequest('L', { taskId: id })));
      expect(statusTextOf(asked)).toBe('Sure?');
      const events = await collectStream(two.stream(userRequest('yes', { taskId: id })));
      // As on the agent that asked: a snapshot from before the answer, then every event.
      expect(events[0]).toMatchObject({ kind: 'task', task: { status: { state: 'input-required' } } });
      expect(
        events.slice(1).map((event) => (event.kind === 'status' ? event.status.state : event.kind)),
      ).toEqual(['working', 'artifact', 'completed']);
      expect(artifactTexts(await two.getTask({ id }))).toEqual(['L yes']);
    });

    it('pass each of many answers to its question', async () => {
      const one = await createAgent(async (context) => textOf((await context.ask('Which?')).parts));
      const two = await createAgent(() => 'of two');
      const numbers = Array.from({ length: 40 }, (_, n) => `${n}`);
      const asked = await Promise.all(
        numbers.map(async (text) => expectTask(await one.send(userRequest(text)))),
      );
      const answered = await Promise.all(
        asked.map(async ({ id }, n) =>
          expectTask(await two.send(userRequest(`answer ${n}`, { taskId: id }))),
        ),
      );
      expect(answered.map(artifactTexts)).toEqual(numbers.map((n) => [`answer ${n}`]));
    });

    it('run a message once that arrives at both at the same time', async () => {
      const runs: string[] = [];
      const run: ProcessFunction = ({ message }) => void runs.push(message.messageId);
      const agents = [await createAgent(run), await createAgent(run)];
      const ids = Array.from({ length: 100 }, (_, n) => `message ${n}`);
      const sent = await Promise.all(
        ids.flatMap((messageId) => agents.map((agent) => agent.send(userRequest('hi', { messageId })))),
      );
      expect(runs.toSorted()).toEqual(ids.toSorted());
      expect(new Set(sent.map((task) => expectTask(task).id)).size).toBe(ids.length);
    });

    it('start another task for a message id that was used with other content', async () => {
      const one = await createAgent(({ text }) => text);
      const two = await createAgent(({ text }) => text);
      const first = expectTask(await one.send(userRequest('a', { messageId: 'm' })));
      const second = expectTask(await two.send(userRequest('b', { messageId: 'm' })));
      expect(second.id).not.toBe(first.id);
      expect(artifactTexts(second)).toEqual(['b']);
    });

    it('abort a silent run of the other agent', async () => {
      const aborted = createDeferred();
      const one = await createAgent(
        ({ signal }) => new Promise(() => signal.addEventListener('abort', () => aborted.resolve())),
      );
      const two = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const events = collectStream(one.subscribe({ id }));
      expect((await two.cancelTask({ id })).status.state).toBe('canceled');
      await aborted.promise;
      expect(statesOf(await events).at(-1)).toBe('canceled');
      expect((await one.cancelTask({ id })).status.state).toBe('canceled');
    });

    it.each([true, false])('cancel a task of each other (with a subscriber: %s)', async (hasSubscriber) => {
      const go = createDeferred();
      const ended = createDeferred();
      const one = await createAgent(async function* ({ signal }) {
        try {
          yield 'a';
          await go.promise;
          yield 'b';
          await new Promise((resolve) => setImmediate(resolve));
          yield 'c';
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        } finally {
          ended.resolve();
        }
      });
      const two = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const events = hasSubscriber ? collectStream(one.subscribe({ id })) : undefined;
      expect((await two.cancelTask({ id })).status.state).toBe('canceled');
      if (events) expect(statesOf(await events).at(-1)).toBe('canceled');
      go.resolve();
      await ended.promise;
      for (const agent of [one, two]) {
        const task = await agent.getTask({ id });
        expect(task.status.state).toBe('canceled');
        expect(artifactTexts(task)).toEqual(['a']);
        expect(await reasonOf(agent.send(userRequest('more', { taskId: id })))).toBe('UNSUPPORTED_OPERATION');
      }
    });

    /** Starts a task of the first of two agents. `finish` ends it and waits until all notifications are delivered. */
    async function startNotifyingTask() {
      const hook = await new TestWebhook().start();
      cleanups.push(() => hook.stop());
      const go = createDeferred();
      const one = await createAgent(async function* () {
        await go.promise;
        yield 'a';
      });
      const two = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const finish = async (): Promise<void> => {
        go.resolve();
        const taskStore = await open();
        await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
      };
      return { hook, one, two, id, finish };
    }

    it('deliver only their own push notifications', async () => {
      const { hook, one, two, id, finish } = await startNotifyingTask();
      await one.createPushConfig({ taskId: id, id: 'one', url: `${hook.url}/one` });
      await two.createPushConfig({ taskId: id, id: 'two', url: `${hook.url}/two` });
      const three = await createAgent(never);
      expect((await three.listPushConfigs({ taskId: id })).configs).toHaveLength(2);
      await finish();
      for (const path of ['/hook/one', '/hook/two']) {
        const ids = hook.received.filter((each) => each.path === path).map((each) => each.id);
        expect(ids.length).toBeGreaterThan(1);
        expect(new Set(ids).size).toBe(ids.length);
      }
    });

    it('send no notifications to a webhook whose configuration another agent has deleted', async () => {
      const { hook, one, two, id, finish } = await startNotifyingTask();
      await one.createPushConfig({ taskId: id, id: 'deleted', url: `${hook.url}/deleted` });
      await one.createPushConfig({ taskId: id, id: 'kept', url: `${hook.url}/kept` });
      const count = (path: string) => hook.received.filter((each) => each.path === path).length;
      // The current state of the task.
      await waitUntilTrue(async () => count('/hook/deleted') === 1);
      await two.deletePushConfig({ taskId: id, id: 'deleted' });
      await finish();
      expect(count('/hook/kept')).toBeGreaterThan(1);
      expect(count('/hook/deleted')).toBe(1);
    });
  });

  describe.skipIf(isSkipped)(`agents that hand over tasks in ${name}`, () => {
    /** Agent whose runs never end, but whose resumed runs end at once. */
    const createResuming = (name: string, options: AgentOptions = {}) =>
      createAgent(never, options, ({ text }) => `${name} finished ${text}`);

    it('continue the tasks of an agent that closes, for subscribers of any agent', async () => {
      const one = await createResuming('one');
      const two = await createResuming('two');
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const events = collectStream(two.subscribe({ id }));
      await one.close();
      expect(statesOf(await events).at(-1)).toBe('completed');
      expect(artifactTexts(await two.getTask({ id }))).toEqual(['two finished hi']);
    });

    it('continue them after a restart of the only agent', async () => {
      const one = await createResuming('one');
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      await one.close();
      const again = await createResuming('again');
      await waitUntilTrue(async () => (await again.getTask({ id })).status.state === 'completed');
      expect(artifactTexts(await again.getTask({ id }))).toEqual(['again finished hi']);
    });

    it('continue each of 600 tasks once', async () => {
      const one = await createResuming('one');
      const resumed: string[] = [];
      const others = [];
      for (let i = 0; i < 3; i++)
        others.push(await createAgent(never, {}, ({ text }) => void resumed.push(text)));
      const texts = Array.from({ length: 600 }, (_, i) => `${i}`);
      await Promise.all(texts.map((text) => one.send(userRequest(text, {}, immediately))));
      await one.close();
      await waitUntilTrue(() => resumed.length >= texts.length);
      for (const other of others) await other.close();
      expect(resumed.toSorted()).toEqual(texts.toSorted());
    });

    it('do not take over tasks with recoverTasks: false, nor those of an agent without resume', async () => {
      const one = await createResuming('one');
      const two = await createResuming('two', { recoverTasks: false });
      const without = await createAgent(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const { id: failing } = expectTask(await without.send(userRequest('hi', {}, immediately)));
      // The agent without resume would take the task of the other over, and fail it.
      await without.close();
      await one.close();
      expect((await two.getTask({ id })).status.state).toBe('working');
      expect((await two.getTask({ id: failing })).status.state).toBe('failed');
      const taskStore = await open();
      expect(await taskStore.takeOver?.()).toMatchObject([{ owner: '', id }]);
      expect(await taskStore.takeOver?.()).toEqual([]);
    });

    it('deliver the push notifications of the tasks that they take over', async () => {
      const hook = await new TestWebhook().start();
      cleanups.push(() => hook.stop());
      const one = await createResuming('one');
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      await one.createPushConfig({ taskId: id, id: 'one', url: `${hook.url}/one` });
      await createResuming('two');
      await one.close();
      const taskStore = await open();
      await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
      const ids = hook.received.map((each) => each.id);
      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(ids).size).toBe(ids.length);
    });
  });

  describe.skipIf(isSkipped)(`agents that take over tasks in ${name}`, () => {
    /** Agent of a process that is suspended and does not renew its lease. */
    const createSuspended = async (process: ProcessFunction): Promise<LocalAgent> =>
      createAgent(process, { taskStore: await open(true), recoverTasks: false });

    it('fail the tasks of an agent that has ended, with a reason', async () => {
      const one = await createSuspended(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const two = await createAgent(never);
      const events = await collectStream(two.subscribe({ id }));
      expect(statesOf(events).at(-1)).toBe('failed');
      expect(statusTextOf(await two.getTask({ id }))).toMatch(/restarted/);
    });

    it('resume them, refuse later writes of the old agent and stream to its subscribers', async () => {
      const go = createDeferred();
      const ended = createDeferred();
      const one = await createSuspended(async function* () {
        try {
          yield 'a';
          await go.promise;
          yield 'zombie';
        } finally {
          ended.resolve();
        }
      });
      const sent = one.send(userRequest('hi'));
      const { id } = await waitForTask(one);
      const events = collectStream(one.subscribe({ id, afterSequence: 0 }));
      const two = await createAgent(never, {}, async function* () {
        yield 'b';
      });
      await waitUntilTrue(async () => (await two.getTask({ id })).status.state === 'completed');
      go.resolve();
      await ended.promise;
      expect(artifactTexts(expectTask(await sent))).toEqual(['a', 'b']);
      expect(artifactTexts(await two.getTask({ id }))).toEqual(['a', 'b']);
      const numbers = (await events).map(({ sequence }) => sequence);
      expect(numbers).toEqual(numbers.map((_, n) => n + 1));
    });

    it('run the message again with retry, at most as often as the agent allows', async () => {
      const start = async (process: ProcessFunction, isSuspended: boolean): Promise<LocalAgent> => {
        const definition = { name: 'T', description: 'T', retry: { attempts: 2 }, process };
        const agent = defineAgent(definition, { taskStore: await open(isSuspended) });
        cleanups.push(() => agent.close());
        await agent.ready();
        return agent;
      };
      const one = await start(never, true);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      let runs = 0;
      const two = await start(() => {
        runs++;
        return new Promise(() => {});
      }, true);
      await waitUntilTrue(async () => {
        await two.ready();
        two.options.taskStore?.onHandOver?.();
        return runs > 0;
      });
      const three = await start(() => void runs++, false);
      await waitUntilTrue(async () => (await three.getTask({ id })).status.state === 'failed');
      expect(statusTextOf(await three.getTask({ id }))).toMatch(/2 times/);
      expect(runs).toBe(1);
    });

    it('continue a task that waits for input with a new run', async () => {
      const one = await createSuspended(async (context) => textOf((await context.ask('Which?')).parts));
      const { id } = expectTask(await one.send(userRequest('hi')));
      const two = await createAgent(({ text }) => `of two: ${text}`);
      expect(artifactTexts(expectTask(await two.send(userRequest('L', { taskId: id }))))).toEqual([
        'of two: L',
      ]);
    });

    it('cancel a task of an agent that has ended', async () => {
      const one = await createSuspended(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const two = await createAgent(never, { recoverTasks: false });
      expect((await two.cancelTask({ id })).status.state).toBe('canceled');
    });
  });
}

async function waitForTask(agent: LocalAgent): Promise<Task> {
  await waitUntilTrue(async () => (await agent.listTasks({})).totalSize === 1);
  const [task] = (await agent.listTasks({})).tasks;
  if (!task) throw new Error('expected a task');
  return task;
}
