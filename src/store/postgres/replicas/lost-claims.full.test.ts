import { describe, expect, it } from 'vitest';
import {
  artifactTexts,
  createDeferred,
  expectTask,
  reasonOf,
  userRequest,
} from '../../../../test/support/engine/conversation.ts';
import { waitUntilTrue } from '../../../../test/support/push/test-webhook.ts';
import { loseAnswer } from '../../../../test/support/store/intercepted-pool.ts';
import { hasPostgres } from '../../../../test/support/store/postgres-server.ts';
import {
  type ReplicaStore,
  stoppedClock,
  useReplicaStores,
} from '../../../../test/support/store/replica-stores.ts';
import type { AgentDefinition } from '../../../engine/agent-definition.ts';
import type { Task } from '../../../protocol/task.ts';
import type { TaskLog } from '../../task-store.ts';

const replicas = useReplicaStores();
const { open, openPool, start } = replicas;

const claim = 'removed as (';
const commit = 'with created as';
const isRead = (text: string): boolean => text.includes('string_agg') && text.includes('t.key = $1');

const asking: Partial<AgentDefinition> = {
  process: async ({ text }) => (text === 'turn' ? { state: 'input-required' } : text),
  resume: ({ text }) => `resumed ${text}`,
};
const newTask = (id: string): Task => ({ id, contextId: 'c', status: { state: 'input-required' } });
const working = { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } } as const;

/** Creates a task that a replica holds. */
async function hold({
  taskStore,
}: ReplicaStore): Promise<Required<Pick<TaskLog, 'claim' | 'release'>> & TaskLog> {
  return (await taskStore.create('', newTask('t'))) as Required<TaskLog>;
}

describe.skipIf(!hasPostgres)('a replica that does not learn of its claim', () => {
  it.each([
    ['the answer of the claim is lost', (text: string) => text.includes(claim)],
    ['the task cannot be read after the claim', isRead],
  ])('lets another one accept the reply if %s', async (_case, isLost) => {
    const [one, two] = [await open(), await open()];
    const [first, second] = [await start(one, asking), await start(two, asking)];
    const { id } = expectTask(await second.send(userRequest('turn')));
    expect((await first.getTask({ id })).status.state).toBe('input-required');
    let hasClaimed = false;
    one.pool.after = (text) => {
      hasClaimed ||= text.includes(claim);
      if (!hasClaimed || !isLost(text)) return;
      one.pool.after = () => {};
      throw new Error('The connection broke');
    };
    const reply = userRequest('answer', { taskId: id, messageId: 'reply' });
    expect(await reasonOf(first.send(reply))).toBe('UNAVAILABLE');
    expect(artifactTexts(expectTask(await second.send(reply)))).toEqual(['answer']);
  });

  it('lets another one cancel the task', async () => {
    const [one, two] = [await open(), await open()];
    const [first, second] = [await start(one, asking), await start(two, asking)];
    const { id } = expectTask(await second.send(userRequest('turn')));
    loseAnswer(one.pool, claim);
    expect(await reasonOf(first.cancelTask({ id }))).toBe('UNAVAILABLE');
    expect((await second.cancelTask({ id })).status.state).toBe('canceled');
  });

  it('continues a task that it could not leave to others', async () => {
    const { clock, tick } = stoppedClock();
    const [one, two] = [await open({ clock, wakeUps: false }), await open({ clock: stoppedClock().clock })];
    const [first, second] = [await start(one, asking), await start(two, asking)];
    const { id } = expectTask(await second.send(userRequest('turn')));
    const other = openPool();
    // Before the first replica claims the task, the second one has stored a reply and ended.
    one.pool.before = async (text) => {
      if (!text.includes(claim)) return;
      one.pool.before = (next) => {
        if (!next.includes('set holder = null from unnest')) return;
        one.pool.before = () => {};
        throw new Error('The connection broke');
      };
      const log = await two.taskStore.open('', id);
      await log?.claim?.();
      log?.append({ kind: 'input', message: userRequest('earlier', { taskId: id }).message });
      log?.append({ ...working, taskId: id });
      await log?.whenPersisted();
      await other.query(`update ${replicas.schema}.tasks set holder = null`);
    };
    expect(await reasonOf(first.send(userRequest('late', { taskId: id })))).toBe('UNAVAILABLE');
    await waitUntilTrue(async () => {
      tick();
      return (await first.getTask({ id })).status.state === 'completed';
    });
    expect(artifactTexts(await first.getTask({ id }))).toEqual(['resumed earlier']);
  });
});

describe.skipIf(!hasPostgres)('a replica that claims a task again', () => {
  it('keeps it although an earlier read says that it was released', async () => {
    const one = await open({ clock: stoppedClock().clock, wakeUps: false });
    const log = await hold(one);
    const [released, read, claimed] = [createDeferred(), createDeferred(), createDeferred()];
    let reads = 0;
    one.pool.before = (text) => (isRead(text) && reads++ === 0 ? released.promise : undefined);
    one.pool.after = (text) => {
      if (!isRead(text) || reads > 1) return undefined;
      read.resolve();
      return claimed.promise;
    };
    const refreshing = log.refresh?.();
    log.release();
    await log.whenPersisted();
    released.resolve();
    await read.promise;
    expect(await log.claim()).toBe(true);
    claimed.resolve();
    await refreshing;
    log.append({ ...working });
    await log.whenPersisted();
    expect(log.task().status.state).toBe('working');
  });

  it('keeps it although an earlier commit is refused', async () => {
    const one = await open({ clock: stoppedClock().clock, wakeUps: false });
    const log = await hold(one);
    const other = openPool();
    const [refused, claimed] = [createDeferred(), createDeferred()];
    one.pool.before = async (text) => {
      if (text.includes(commit)) await other.query(`update ${replicas.schema}.tasks set holder = null`);
    };
    one.pool.after = (text) => {
      if (!text.includes(commit)) return undefined;
      one.pool.before = one.pool.after = () => {};
      refused.resolve();
      return claimed.promise;
    };
    log.append({ ...working });
    const lost = reasonOf(Promise.resolve(log.whenPersisted()));
    await refused.promise;
    await log.refresh?.();
    expect(await lost).toBe('CONFLICT');
    expect(await log.claim()).toBe(true);
    log.append({ ...working });
    const stored = log.whenPersisted();
    claimed.resolve();
    await stored;
    expect(log.task().status.state).toBe('working');
  });

  it('has one log of a task that is read while its creation is on its way', async () => {
    const one = await open();
    const [sent, answer] = [createDeferred(), createDeferred()];
    one.pool.after = (text) => {
      if (!text.includes(commit)) return undefined;
      sent.resolve();
      return answer.promise;
    };
    const creating = one.taskStore.create('', newTask('t'));
    await sent.promise;
    const opening = Promise.resolve(one.taskStore.open('', 't'));
    const elsewhere = async (): Promise<void> => {
      for (let reads = 0; reads < 10; reads++) await one.taskStore.list('', {});
    };
    await Promise.race([opening, elsewhere()]);
    answer.resolve();
    expect(await opening).toBe(await creating);
  });
});

describe.skipIf(!hasPostgres)('a run that ends', () => {
  it('releases its task although the question is still on its way to the database', async () => {
    const [one, two] = [await open(), await open()];
    const [sent, end, ended, answer] = [
      createDeferred(),
      createDeferred(),
      createDeferred(),
      createDeferred(),
    ];
    const definition: Partial<AgentDefinition> = {
      async *process({ text }) {
        if (text !== 'turn') return text;
        yield { state: 'auth-required' };
        await end.promise;
        setImmediate(ended.resolve);
        return undefined;
      },
    };
    const [first, second] = [await start(one, definition), await start(two, definition)];
    let commits = 0;
    one.pool.after = (text) => {
      if (!text.includes(commit) || ++commits < 2) return undefined;
      one.pool.after = () => {};
      sent.resolve();
      return answer.promise;
    };
    const asking = first.send(userRequest('turn'));
    await sent.promise;
    end.resolve();
    await ended.promise;
    answer.resolve();
    const { id } = expectTask(await asking);
    const reply = await second.send(userRequest('answer', { taskId: id }));
    expect(artifactTexts(expectTask(reply))).toEqual(['answer']);
  });
});
