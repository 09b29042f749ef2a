import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProcessFunction } from '../../src/engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../src/engine/local-agent.ts';
import { retryDeadLetters } from '../../src/push/sending/dead-letters.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { createDeferred, expectTask, userRequest } from '../support/engine/conversation.ts';
import { TestWebhook, waitUntilTrue } from '../support/push/test-webhook.ts';

/** Storage that the processes of one test share. */
interface DeliveryStorage {
  /** Empties the storage. */
  reset(): Promise<void>;
  /** Opens a task store. A suspended one has a lease of one second, renews it never and reads nothing by itself. */
  open(isSuspended: boolean): Promise<TaskStore>;
  /** Opens a task store that holds nothing. */
  openWithoutLease(): Promise<TaskStore>;
  /** Deletes the leases of all processes. */
  deleteLeases(): Promise<void>;
}

interface Process {
  readonly agent: LocalAgent;
  readonly taskStore: TaskStore;
}

const never: ProcessFunction = () => new Promise(() => {});

/** Declares the contract of agents that share a task store and send push notifications. */
export function describeReplicaDeliveries(name: string, storage: DeliveryStorage, isSkipped = false): void {
  let cleanups: (() => Promise<unknown>)[];
  let hook: TestWebhook;

  beforeEach(async () => {
    cleanups = [];
    if (isSkipped) return;
    await storage.reset();
    hook = await new TestWebhook().start();
    cleanups.push(() => hook.stop());
  });
  afterEach(async () => {
    for (const end of cleanups.toReversed()) await end();
  });

  /** Starts an agent with its own task store, as in another process. */
  async function start(process: ProcessFunction, isSuspended = false): Promise<Process> {
    const taskStore = await storage.open(isSuspended);
    cleanups.push(async () => taskStore[Symbol.asyncDispose]());
    const agent = defineAgent(
      { name: 'T', description: 'T', pushNotifications: true, process },
      {
        taskStore,
        push: { egress: { allowLoopback: true }, minDelay: 10, maxAttempts: 2, pollInterval: 50 },
      },
    );
    cleanups.push(() => agent.close());
    await agent.ready();
    return { agent, taskStore };
  }

  /** Starts replicas and a task of the first one that ends when `go` is called. */
  async function startTask(others: number) {
    const go = createDeferred();
    const runner = await start(async function* () {
      await go.promise;
      for (const text of ['a', 'b', 'c']) yield text;
    });
    const replicas = [runner];
    for (let n = 0; n < others; n++) replicas.push(await start(never));
    const request = userRequest('hi', {}, { configuration: { returnImmediately: true } });
    const { id } = expectTask(await runner.agent.send(request));
    await waitUntilTrue(async () => (await runner.agent.getTask({ id })).status.state === 'working');
    return { runner, replicas, id, go: go.resolve };
  }

  const numbersOf = (path: string): number[] =>
    hook.received
      .filter((each) => each.path === `/hook/${path}`)
      .map(({ id }) => Number(id.split(':').at(-1)));

  const untilDelivered = ({ taskStore }: Process): Promise<void> =>
    waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);

  /** The events after `working`, which is the newest one at the registration: three chunks and the end. */
  const all = [2, 3, 4, 5, 6];

  describe.skipIf(isSkipped)(`replicas with push notifications in ${name}`, () => {
    it.each([2, 3])('deliver each event once, in order (%i replicas)', async (count) => {
      const { runner, replicas, id, go } = await startTask(count - 1);
      const paths = replicas.map((_, n) => `${n}`);
      for (const [n, { agent }] of replicas.entries())
        await agent.createPushConfig({ taskId: id, id: `${n}`, url: `${hook.url}/${n}` });
      go();
      await untilDelivered(runner);
      expect(paths.map(numbersOf)).toEqual(paths.map(() => all));
    });

    it('continue at the cursor of a replica that has ended', async () => {
      const { runner, id, go } = await startTask(1);
      const dead = await start(never, true);
      await dead.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await hook.waitUntil(() => hook.accepted.length === 1);
      go();
      await untilDelivered(runner);
      expect(numbersOf('p')).toEqual(all);
    });

    it('refuse a replica whose lease has ended, and repeat its delivery with the same id', async () => {
      const { runner, id, go } = await startTask(1);
      const suspended = await start(never, true);
      const answer = createDeferred();
      hook.hold = answer.promise;
      await suspended.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await hook.waitUntil(() => hook.received.length === 1);
      hook.hold = Promise.resolve();
      go();
      await untilDelivered(runner);
      answer.resolve();
      const { taskStore } = suspended;
      expect(await taskStore.findHeldPushConfig?.('', id, 'p')).toBeUndefined();
      expect(await taskStore.putDelivery('', id, 'p', { delivered: 2, attempts: 0 })).toBe(false);
      await waitUntilTrue(() => hook.accepted.length === all.length + 1);
      await suspended.agent.close();
      expect(numbersOf('p')).toEqual([2, ...all]);
      expect(new Set(hook.received.slice(0, 2).map(({ id: delivery }) => delivery)).size).toBe(1);
      expect(await runner.taskStore.listDeliveries()).toEqual([]);
    });

    it('take over the webhooks of a replica that closes, at once', async () => {
      const { runner, replicas, id, go } = await startTask(1);
      const closing = replicas[1];
      await closing?.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await hook.waitUntil(() => hook.accepted.length === 1);
      // Its lease is valid for a minute.
      await closing?.agent.close();
      go();
      await untilDelivered(runner);
      expect(numbersOf('p')).toEqual(all);
    });

    it('deliver each event once although a replica closes during a delivery', async () => {
      const { runner, replicas, id, go } = await startTask(1);
      const closing = replicas[1]?.agent;
      await closing?.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await hook.waitUntil(() => hook.accepted.length === 1);
      const answer = createDeferred();
      hook.hold = answer.promise;
      go();
      await hook.waitUntil(() => hook.received.length === 2);
      const closed = closing?.close();
      expect(await runner.taskStore.takeOverDeliveries?.()).toEqual([]);
      answer.resolve();
      await closed;
      await untilDelivered(runner);
      expect(numbersOf('p')).toEqual(all);
    });

    it('take over the webhooks of a finished task', async () => {
      const { runner, id, go } = await startTask(1);
      hook.behavior = () => (hook.received.length === 1 ? 'hang' : 200);
      const dead = await start(never, true);
      await dead.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await hook.waitUntil(() => hook.received.length === 1);
      go();
      await untilDelivered(runner);
      expect(numbersOf('p')).toEqual([2, ...all]);
    });

    it('take over webhooks and tasks of a replica whose registration was deleted', async () => {
      const dead = await start(never, true);
      const request = userRequest('hi', {}, { configuration: { returnImmediately: true } });
      const { id } = expectTask(await dead.agent.send(request));
      await dead.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      await waitUntilTrue(async () => (await dead.taskStore.listDeliveries())[0]?.state.delivered === 2);
      await storage.deleteLeases();
      const other = await start(never);
      await untilDelivered(other);
      expect((await other.agent.getTask({ id })).status.state).toBe('failed');
      expect(numbersOf('p')).toEqual([2, 3]);
    });

    it('retry a dead letter that another replica holds, from a process without a lease', async () => {
      const { runner, replicas, id, go } = await startTask(1);
      hook.behavior = () => 500;
      await replicas[1]?.agent.createPushConfig({ taskId: id, id: 'p', url: `${hook.url}/p` });
      const command = await storage.openWithoutLease();
      cleanups.push(async () => command[Symbol.asyncDispose]());
      await waitUntilTrue(async () => (await command.listDeliveries())[0]?.state.deadSince !== undefined);
      expect(await command.putDelivery('', id, 'p', { delivered: 9, attempts: 0 })).toBe(false);
      hook.behavior = () => 200;
      expect(await retryDeadLetters(command)).toHaveLength(1);
      go();
      await untilDelivered(runner);
      expect(hook.accepted.map(({ id: delivery }) => Number(delivery.split(':').at(-1)))).toEqual(all);
    });
  });
}
