import { describe, expect, it } from 'vitest';
import { createDeferred } from '../../../test/support/engine/conversation.ts';
import { A2AError } from '../../protocol/errors.ts';
import { HeldTaskLog, type HoldBackend } from '../durable/held-task-log.ts';
import { TemporaryStorageError } from '../durable/temporary-storage-error.ts';
import type { CommitShare, CommitStatement } from './commit-statement.ts';
import { PostgresGroupCommit } from './postgres-group-commit.ts';

/** A statement on its way, which the test ends. */
interface Sent {
  readonly rows: readonly number[];
  succeed(): void;
  fail(): void;
  /** Answers that a value is not accepted. */
  reject(): void;
}

/** A database whose answers the test decides. */
function createCommits() {
  const sent: Sent[] = [];
  const arrivals: (() => void)[] = [];
  const failed: HeldTaskLog[] = [];
  const statement: Pick<CommitStatement, 'run' | 'findApplied'> = {
    run: (_epoch, _created, shares: readonly CommitShare[]) =>
      new Promise((resolve, reject) => {
        const rows = shares.map(({ log }) => log.stored.row);
        sent.push({
          rows,
          succeed: () => resolve({ created: new Map(), changed: new Set(rows) }),
          fail: () => reject(new TemporaryStorageError(new Error('The connection broke'))),
          reject: () => reject(new A2AError('INTERNAL_ERROR', 'Invalid value')),
        });
        for (const arrived of arrivals.splice(0)) arrived();
      }),
    findApplied: async () => new Set(),
  };
  const commits = new PostgresGroupCommit(statement as CommitStatement, {
    now: () => 0,
    epoch: () => 1,
    onStored: () => {},
    onRefused: () => {},
    onFailed(log, error) {
      failed.push(log);
      log.commitFailed(error);
    },
    onCommit: () => {},
    onOutage: undefined,
  });
  const backend: HoldBackend = {
    appended(log, change) {
      const held = log as HeldTaskLog;
      held.pending.push(change);
      held.hasStatusChange = true;
      commits.add(held);
    },
    whenPersisted: (log) => (log as HeldTaskLog).whenCommitted(),
    replay: () => undefined,
    claim: () => true,
    release: () => {},
    refresh: () => {},
  };
  const createLog = (row: number): HeldTaskLog => {
    const task = { id: `t${row}`, contextId: 'c', status: { state: 'working' as const } };
    const log = new HeldTaskLog(backend, 'ann', task, 1);
    Object.assign(log.stored, { row, state: 'working', sequence: 1 });
    log.isHeld = true;
    return log;
  };
  const statementNumber = async (number: number): Promise<Sent> => {
    for (;;) {
      const found = sent[number - 1];
      if (found) return found;
      const arrival = createDeferred();
      arrivals.push(() => arrival.resolve());
      await arrival.promise;
    }
  };
  return { commits, sent, failed, createLog, statementNumber };
}

const finish = (log: HeldTaskLog): PromiseLike<void> | undefined => {
  const { id, contextId } = log;
  log.append({ kind: 'status', taskId: id, contextId, status: { state: 'completed' } });
  return log.whenPersisted();
};

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, i) => from + i);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('PostgresGroupCommit', () => {
  it('sends a second statement for many waiting tasks, no third, and none for few', async () => {
    const { createLog, sent, statementNumber } = createCommits();
    const stored = [createLog(1)].map(finish);
    const first = await statementNumber(1);
    stored.push(...range(2, 15).map((row) => finish(createLog(row))));
    await turn();
    expect(sent).toHaveLength(1);
    stored.push(finish(createLog(17)));
    const second = await statementNumber(2);
    expect(second.rows).toEqual(range(2, 16));
    stored.push(...range(18, 40).map((row) => finish(createLog(row))));
    await turn();
    expect(sent).toHaveLength(2);
    second.succeed();
    const third = await statementNumber(3);
    expect(third.rows).toEqual(range(18, 40));
    third.succeed();
    first.succeed();
    await Promise.all(stored.map(async (each) => each));
  });

  it('sends the changes of all statements again that were on their way when the connections broke', async () => {
    const { commits, createLog, statementNumber } = createCommits();
    const logs = range(1, 17).map(createLog);
    const [one, ...others] = logs as [HeldTaskLog, ...HeldTaskLog[]];
    const rejected = [finish(one)];
    const first = await statementNumber(1);
    rejected.push(...others.map(finish));
    const second = await statementNumber(2);
    first.fail();
    second.fail();
    const outcomes = await Promise.allSettled(rejected.map(async (each) => each));
    expect(outcomes.map(({ status }) => status)).toEqual(logs.map(() => 'rejected'));
    expect(commits.outage).toBeDefined();
    const retry = await statementNumber(3);
    expect([...retry.rows].sort((a, b) => a - b)).toEqual(range(1, 17));
    retry.succeed();
    await commits.outage?.ended;
    await commits.flush();
    expect(logs.every((log) => log.visible === 2 && !log.isDirty)).toBe(true);
  });

  it('keeps a change if the connection breaks while the changes of a rejected group are stored one by one', async () => {
    const { createLog, failed, statementNumber } = createCommits();
    const logs = range(1, 2).map(createLog);
    const stored = Promise.allSettled(logs.map(async (log) => finish(log)));
    (await statementNumber(1)).reject();
    (await statementNumber(2)).reject();
    (await statementNumber(3)).fail();
    expect((await stored).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    (await statementNumber(4)).succeed();
    await turn();
    expect(failed.map(({ id }) => id)).toEqual(['t1']);
    expect(logs.map(({ visible }) => visible)).toEqual([1, 2]);
  });

  it('ends an outage with an answer of the database, even if it rejects a change', async () => {
    const { commits, createLog, failed, statementNumber } = createCommits();
    const stored = Promise.allSettled([finish(createLog(1))]);
    (await statementNumber(1)).fail();
    await stored;
    expect(commits.outage).toBeDefined();
    (await statementNumber(2)).reject();
    await turn();
    expect(failed).toHaveLength(1);
    expect(commits.outage).toBeUndefined();
  });
});
