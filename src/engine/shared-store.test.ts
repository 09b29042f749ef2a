import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
} from '../../test/support/engine/conversation.ts';
import { waitUntilTrue, TestWebhook } from '../../test/support/push/test-webhook.ts';
import type { TaskStore } from '../store/task-store.ts';
import { sqliteTaskStore } from '../store/sqlite.ts';
import type { AgentOptions, ProcessFunction } from './agent-definition.ts';
import { defineAgent, type LocalAgent } from './local-agent.ts';

const immediately = { configuration: { returnImmediately: true } };
const never: ProcessFunction = () => new Promise(() => {});

let folder: string;
let cleanups: (() => Promise<unknown>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-sharing-'));
  cleanups = [];
});

afterEach(async () => {
  for (const end of cleanups.toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<TaskStore> {
  const taskStore = await sqliteTaskStore({ file: join(folder, 'tasks.db'), shared: true, pollInterval: 1 });
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
    { name: 'T', description: 'T', pushNotifications: true, process, ...(resume && { resume }) },
    { taskStore: await open(), push: { egress: { allowLoopback: true } }, ...options },
  );
  cleanups.push(() => agent.close());
  await agent.ready();
  return agent;
}

describe('agents on a shared SQLite file', () => {
  it('do not recover unfinished tasks of each other by default', async () => {
    const one = await createAgent(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    const two = await createAgent(never);
    expect((await two.getTask({ id })).status.state).toBe('working');
    expect((await one.getTask({ id })).status.state).toBe('working');
  });

  it('recover them with recoverTasks', async () => {
    const one = await createAgent(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    const two = await createAgent(never, { recoverTasks: true });
    const task = await two.getTask({ id });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/restarted/);
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
    const events = collectStream(two.subscribe({ id }));
    go.resolve();
    expect(statesOf(await events).at(-1)).toBe('completed');
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

  it('continue an input-required task of the other agent, whose question stays pending', async () => {
    const one = await createAgent(async (context) => {
      await context.ask('Which?');
      return 'of one';
    });
    const two = await createAgent(({ text }) => `of two: ${text}`);
    const { id } = expectTask(await one.send(userRequest('hi')));
    expect(artifactTexts(expectTask(await two.send(userRequest('L', { taskId: id }))))).toEqual([
      'of two: L',
    ]);
    await one.close();
    expect((await two.getTask({ id })).status.state).toBe('completed');
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

  it('deliver only their own push notifications', async () => {
    const hook = await new TestWebhook().start();
    cleanups.push(() => hook.stop());
    const go = createDeferred();
    const one = await createAgent(async function* () {
      await go.promise;
      yield 'a';
    });
    const two = await createAgent(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    await one.createPushConfig({ taskId: id, id: 'one', url: `${hook.url}/one` });
    await two.createPushConfig({ taskId: id, id: 'two', url: `${hook.url}/two` });
    const three = await createAgent(never);
    expect((await three.listPushConfigs({ taskId: id })).configs).toHaveLength(2);
    go.resolve();
    const taskStore = await open();
    await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
    for (const path of ['/hook/one', '/hook/two']) {
      const ids = hook.received.filter((each) => each.path === path).map((each) => each.id);
      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

describe('agents that hand over tasks on a shared SQLite file', () => {
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
    await one.close();
    await without.close();
    expect((await two.getTask({ id })).status.state).toBe('working');
    expect((await two.getTask({ id: failing })).status.state).toBe('failed');
    const taskStore = await open();
    expect(await taskStore.takeOver?.()).toEqual([{ owner: '', id }]);
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
