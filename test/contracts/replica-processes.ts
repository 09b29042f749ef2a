import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../src/client/connect.ts';
import type { StreamEvent } from '../../src/protocol/event.ts';
import type { TaskState } from '../../src/protocol/task.ts';
import { type RunningCommand, serveModule } from '../support/cli/run-command.ts';
import {
  artifactTexts,
  collectStream,
  expectTask,
  statesOf,
  userRequest,
} from '../support/engine/conversation.ts';
import { waitUntilTrue } from '../support/push/test-webhook.ts';

const dist = new URL('../../dist/', import.meta.url).href;

/** Agent whose tasks wait until they are resumed or canceled, or until their question is answered. */
const agentSource = `import { defineAgent } from '${dist}index.js';
  export default defineAgent({
    name: 'Patient',
    description: 'Waits',
    async *process({ text, signal, ask }) {
      yield 'begun by ' + process.pid;
      if (text === 'ask') yield ', answered ' + (await ask('What?')).parts[0].text + ' to ' + process.pid;
      else if (text !== 'go') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        console.log('aborted ' + text);
      }
    },
    async *resume() {
      yield 'resumed by ' + process.pid;
    },
  });`;

const immediately = { configuration: { returnImmediately: true } };

/** A replica: a process with `dragoman serve`. */
type Replica = RunningCommand & { readonly agent: RemoteAgent; readonly pid: number };

/**
 * Declares the contract of processes that share a task store.
 *
 * @param storeUrl - returns the URL of an empty store, different for each name.
 * @param maxTakeover - milliseconds within which the tasks of a killed process continue.
 */
export function describeReplicaProcesses(
  name: string,
  storeUrl: (test: string) => string,
  { isSkipped = false, maxTakeover = 11_000 } = {},
): void {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-replicas-'));
  const module = join(folder, 'agent.mjs');
  writeFileSync(module, agentSource);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const cleanups: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  });

  async function start(test: string): Promise<Replica> {
    const flags = ['--store', storeUrl(test), '--not-ready', '0s', '--drain', '0s'];
    const running = await serveModule(module, flags);
    cleanups.push(() => running.stop('SIGKILL'));
    const agent = connect(running.url, { maxRetries: 0 });
    cleanups.push(() => agent.close());
    return Object.assign(running, { agent, pid: running.process.pid ?? 0 });
  }

  const startTwo = async (test: string): Promise<[Replica, Replica]> => [
    await start(test),
    await start(test),
  ];

  /** Resolves to the text of the artifact that a resumed run has added, and the milliseconds until then. */
  async function whenResumed(agent: RemoteAgent, id: string): Promise<{ text: string; elapsed: number }> {
    const since = performance.now();
    await waitUntilTrue(async () => (await agent.getTask({ id })).status.state === 'completed');
    return {
      text: artifactTexts(await agent.getTask({ id })).at(-1) ?? '',
      elapsed: performance.now() - since,
    };
  }

  const startWaiting = async ({ agent }: Replica, text = 'wait'): Promise<string> =>
    expectTask(await agent.send(userRequest(text, {}, immediately))).id;

  const timesOf = <T>(count: number, run: (n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => run(n)));

  describe.skipIf(isSkipped)(`replicas on ${name}`, () => {
    it('serve every operation on a task of another one', async () => {
      const [one, two] = await startTwo('operations');
      const { id } = expectTask(await one.agent.send(userRequest('ask')));
      const answered = expectTask(await two.agent.send(userRequest('L', { taskId: id })));
      expect(artifactTexts(answered)).toEqual([`begun by ${one.pid}, answered L to ${one.pid}`]);
      const message = userRequest('wait', { messageId: 'same' }, { ...immediately, idempotencyKey: 'same' });
      const running = expectTask(await one.agent.send(message));
      expect(expectTask(await two.agent.send(message)).id).toBe(running.id);
      const events = collectStream(two.agent.subscribe({ id: running.id, afterSequence: 1 }));
      expect((await two.agent.cancelTask({ id: running.id })).status.state).toBe('canceled');
      const numbers = (await events).map(({ sequence }) => sequence);
      expect(numbers).toEqual(numbers.map((_, n) => n + 2));
      expect((await one.agent.getTask({ id: running.id })).status.state).toBe('canceled');
    });

    it('pass each of 40 simultaneous replies to the run that asked', async () => {
      const [one, two] = await startTwo('replies');
      const answers = await timesOf(40, async (n) => {
        const { id } = expectTask(await one.agent.send(userRequest('ask')));
        return artifactTexts(expectTask(await two.agent.send(userRequest(`${n}`, { taskId: id }))));
      });
      expect(answers).toEqual(answers.map((_, n) => [`begun by ${one.pid}, answered ${n} to ${one.pid}`]));
    });

    it('create one task for each of 200 messages that arrive at both at the same time', async () => {
      const replicas = await startTwo('messages');
      const sent = await timesOf(200, (n) => {
        const request = userRequest('go', {}, { idempotencyKey: `message ${n}` });
        return Promise.all(replicas.map(async ({ agent }) => expectTask(await agent.send(request))));
      });
      for (const [first, second] of sent) expect(second).toEqual(first);
      expect((await replicas[0].agent.listTasks({})).totalSize).toBe(200);
    });

    it('end each of 60 streams with "canceled" when the task is canceled elsewhere', async () => {
      const [one, two] = await startTwo('cancel');
      const outcomes = await timesOf(60, async (n) => {
        const events = one.agent.stream(userRequest(`stream ${n}`))[Symbol.asyncIterator]();
        const first = (await events.next()).value as StreamEvent;
        const id = first.kind === 'task' ? first.task.id : '';
        const canceled = await two.agent.cancelTask({ id });
        const rest = await collectStream({ [Symbol.asyncIterator]: () => events });
        await one.prints(new RegExp(`^aborted stream ${n}$`, 'm'));
        return [canceled.status.state, statesOf(rest).at(-1)];
      });
      expect(outcomes).toEqual(outcomes.map(() => ['canceled', 'canceled']));
    });

    it('take over the tasks of a killed one', async () => {
      const [one, two] = await startTwo('killed');
      const id = await startWaiting(one);
      await one.stop('SIGKILL');
      const { text, elapsed } = await whenResumed(two.agent, id);
      expect(text).toBe(`resumed by ${two.pid}`);
      console.log(`takeover after SIGKILL on ${name}: ${Math.round(elapsed)} ms`);
      expect(elapsed).toBeLessThan(maxTakeover);
    });

    it('take over the tasks of one that stops, at once', async () => {
      const [one, two] = await startTwo('stopped');
      const id = await startWaiting(one);
      await one.stop('SIGTERM');
      const { text, elapsed } = await whenResumed(two.agent, id);
      expect(text).toBe(`resumed by ${two.pid}`);
      console.log(`takeover after SIGTERM on ${name}: ${Math.round(elapsed)} ms`);
      expect(elapsed).toBeLessThan(1_000);
    });

    it('refuse the writes of one that was suspended longer than its lease', async () => {
      const [one, two] = await startTwo('suspended');
      const id = await startWaiting(one);
      const events = collectStream(one.agent.subscribe({ id, afterSequence: 1 }));
      process.kill(one.pid, 'SIGSTOP');
      await whenResumed(two.agent, id);
      process.kill(one.pid, 'SIGCONT');
      const numbers = (await events).map(({ sequence }) => sequence);
      expect(numbers).toEqual(numbers.map((_, n) => n + 2));
      expect(await one.agent.getTask({ id })).toEqual(await two.agent.getTask({ id }));
      expect(artifactTexts(expectTask(await one.agent.send(userRequest('go'))))).toEqual([
        `begun by ${one.pid}`,
      ]);
    });

    const kills = 'leave none of 8,000 tasks of 20 killed ones unfinished, and fail no task of a living one';
    it(kills, { timeout: 600_000 }, async () => {
      const lasting = await start('kills');
      const own = await startWaiting(lasting);
      const ids: string[] = [];
      const startMany = async (victim: Replica, count: number): Promise<unknown> =>
        timesOf(count, async () => ids.push(await startWaiting(victim)));
      for (let kills = 0; kills < 20; kills++) {
        const victim = await start('kills');
        await startMany(victim, 400);
        // Dies with requests on their way.
        const late = startMany(victim, 50).catch(() => {});
        await victim.stop('SIGKILL');
        await late;
      }
      const count = async (status: TaskState): Promise<number> =>
        (await lasting.agent.listTasks({ status, pageSize: 1 })).totalSize;
      await waitUntilTrue(async () => (await count('working')) + (await count('submitted')) === 1);
      expect(await count('failed')).toBe(0);
      for (const id of ids) {
        const { status, artifacts } = await lasting.agent.getTask({ id });
        expect([status.state, artifacts?.length]).toEqual(['completed', 2]);
      }
      console.log(`${ids.length} tasks of 20 killed processes on ${name}: 0 unfinished, 0 failed`);
      expect(ids.length).toBeGreaterThanOrEqual(8_000);
      expect((await lasting.agent.getTask({ id: own })).status.state).toBe('working');
    });
  });
}
