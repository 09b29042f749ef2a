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
let ends: (() => Promise<unknown>)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-sharing-'));
  ends = [];
});

afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  rmSync(folder, { recursive: true, force: true });
});

async function open(): Promise<TaskStore> {
  const ledger = await sqliteTaskStore({ file: join(folder, 'tasks.db'), shared: true, pollInterval: 1 });
  ends.push(async () => ledger[Symbol.asyncDispose]());
  return ledger;
}

/** An agent as another process would have it: on a ledger of its own, in the same file. */
async function agentOf(process: ProcessFunction, options: AgentOptions = {}): Promise<LocalAgent> {
  const agent = defineAgent(
    { name: 'T', description: 'T', pushNotifications: true, process },
    { taskStore: await open(), push: { egress: { allowLoopback: true } }, ...options },
  );
  ends.push(() => agent.close());
  await agent.ready();
  return agent;
}

describe('agents that share a file', () => {
  it('leave the tasks of each other alone', async () => {
    const one = await agentOf(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    const two = await agentOf(never);
    expect((await two.getTask({ id })).status.state).toBe('working');
    expect((await one.getTask({ id })).status.state).toBe('working');
  });

  it('end them when they are told to', async () => {
    const one = await agentOf(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    const two = await agentOf(never, { recoverTasks: true });
    const task = await two.getTask({ id });
    expect(task.status.state).toBe('failed');
    expect(statusTextOf(task)).toMatch(/restarted/);
  });

  it('follow a task of the other one to its end', async () => {
    const go = createDeferred();
    const one = await agentOf(async function* () {
      yield 'a';
      await go.promise;
      yield 'b';
    });
    const two = await agentOf(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    const events = collectStream(two.subscribe({ id }));
    go.resolve();
    expect(statesOf(await events).at(-1)).toBe('completed');
    expect(artifactTexts(await two.getTask({ id }))).toEqual(['ab']);
  });

  it('do not both run the same message', async () => {
    const one = await agentOf(() => 'of one');
    const two = await agentOf(() => 'of two');
    const sent = expectTask(await one.send(userRequest('hi', { messageId: 'm' })));
    expect(expectTask(await two.send(userRequest('hi', { messageId: 'm' }))).id).toBe(sent.id);
  });

  it('answer a question that the other one left', async () => {
    const one = await agentOf(() => ({ state: 'input-required' }));
    const two = await agentOf(({ text }) => text);
    const { id } = expectTask(await one.send(userRequest('hi')));
    expect(artifactTexts(expectTask(await two.send(userRequest('L', { taskId: id }))))).toEqual(['L']);
  });

  it('answer a question of the other one, which is not told', async () => {
    const one = await agentOf(async (context) => {
      await context.ask('Which?');
      return 'of one';
    });
    const two = await agentOf(({ text }) => `of two: ${text}`);
    const { id } = expectTask(await one.send(userRequest('hi')));
    expect(artifactTexts(expectTask(await two.send(userRequest('L', { taskId: id }))))).toEqual([
      'of two: L',
    ]);
    await one.close();
    expect((await two.getTask({ id })).status.state).toBe('completed');
  });

  it.each([true, false])(
    'cancel a task of the other one, be it followed there (%s) or not',
    async (isFollowed) => {
      const go = createDeferred();
      const ended = createDeferred();
      const one = await agentOf(async function* ({ signal }) {
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
      const two = await agentOf(never);
      const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
      const events = isFollowed ? collectStream(one.subscribe({ id })) : undefined;
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
    },
  );

  it('send the notifications that they were asked for, and not those of the other one', async () => {
    const hook = await new TestWebhook().start();
    ends.push(() => hook.stop());
    const go = createDeferred();
    const one = await agentOf(async function* () {
      await go.promise;
      yield 'a';
    });
    const two = await agentOf(never);
    const { id } = expectTask(await one.send(userRequest('hi', {}, immediately)));
    await one.createPushConfig({ taskId: id, id: 'one', url: `${hook.url}/one` });
    await two.createPushConfig({ taskId: id, id: 'two', url: `${hook.url}/two` });
    const three = await agentOf(never);
    expect((await three.listPushConfigs({ taskId: id })).configs).toHaveLength(2);
    go.resolve();
    const ledger = await open();
    await waitUntilTrue(async () => (await ledger.listDeliveries()).length === 0);
    for (const path of ['/hook/one', '/hook/two']) {
      const ids = hook.received.filter((each) => each.path === path).map((each) => each.id);
      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});
