import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../../../test/support/clocks/manual-clock.ts';
import type { A2AError } from '../../../protocol/errors.ts';
import { type Database, openDatabase } from '../database.ts';
import { Lease } from './lease.ts';
import { findStaleLeases, type StaleLeases } from './stale-leases.ts';
import { createSchema } from '../schema.ts';
import { type ProcessIdentity, currentProcess } from './process-identity.ts';

const timeout = 9_000;
const heartbeat = timeout / 3;

let database: Database;
let clock: ManualClock;
/** Process ids that exist on this host. */
let alive: Set<number>;

beforeEach(async () => {
  clock = new ManualClock();
  alive = new Set([1, 2]);
  database = await openDatabase(':memory:');
  createSchema(database);
});

afterEach(() => database.close());

const fakeProcess = (pid: number, more: Partial<ProcessIdentity> = {}): ProcessIdentity => ({
  pid,
  host: 'here',
  pidNamespace: 'pid:[1]',
  startedAt: clock.now() - 1_000,
  isAlive: (other) => alive.has(other),
  ...more,
});

const acquire = (self: ProcessIdentity, shared = false): Lease =>
  new Lease(database, { file: 'tasks.db', shared, timeout, clock, self });

/** A process that sends no heartbeats, because its clock stands still. */
const acquirePaused = (self: ProcessIdentity, shared = false): Lease =>
  new Lease(database, { file: 'tasks.db', shared, timeout, clock: new ManualClock(), self });

/** Observes leases without heartbeats for a time, then acquires the lease. */
async function acquireAfter(milliseconds: number, self: ProcessIdentity, shared = false): Promise<Lease> {
  let stale: StaleLeases | undefined;
  void findStaleLeases(database, { shared, clock, self }).then((found) => (stale = found));
  for (let waited = 0; waited < milliseconds; waited += 100) {
    await new Promise((resolve) => setImmediate(resolve));
    if (stale) break;
    clock.advance(100);
  }
  await new Promise((resolve) => setImmediate(resolve));
  return new Lease(database, { file: 'tasks.db', shared, timeout, clock, self, stale });
}

const acquireShared = (self: ProcessIdentity): Lease => acquire(self, true);

const hint = 'Stop that process, use another file, or open the file with shared: true in all processes.';

const pids = (): unknown[] =>
  database
    .prepare('select pid from lease order by pid')
    .all([])
    .map(({ pid }) => pid);

const isHeld = (lease: Lease): boolean => {
  try {
    lease.check();
    return true;
  } catch {
    return false;
  }
};

describe('Lease', () => {
  it('rejects a second exclusive lease and names the holder', () => {
    const first = acquire(fakeProcess(1));
    clock.advance(heartbeat);
    expect(() => acquire(fakeProcess(2))).toThrow(
      expect.objectContaining({
        reason: 'CONFLICT',
        message: 'tasks.db is in use by process 1 on here since 1970-01-01T00:16:40.000Z',
        hint,
      }),
    );
    expect(isHeld(first)).toBe(true);
  });

  it('allows several shared leases, released independently', () => {
    const [first, second, again] = [
      acquireShared(fakeProcess(1)),
      acquireShared(fakeProcess(2)),
      acquireShared(fakeProcess(1)),
    ];
    expect([first, second, again].map(isHeld)).toEqual([true, true, true]);
    first.release();
    expect([first, second, again].map(isHeld)).toEqual([false, true, true]);
  });

  it('rejects a shared lease while an exclusive one is held', () => {
    const first = acquire(fakeProcess(1));
    expect(() => acquireShared(fakeProcess(2))).toThrow(
      expect.objectContaining({
        reason: 'CONFLICT',
        message: 'tasks.db is in use by process 1 on here since 1970-01-01T00:16:40.000Z',
        hint,
      }),
    );
    first.release();
    expect(isHeld(acquireShared(fakeProcess(2)))).toBe(true);
  });

  it('rejects an exclusive lease while shared ones are held', () => {
    const first = acquireShared(fakeProcess(1));
    expect(() => acquire(fakeProcess(2))).toThrow(
      expect.objectContaining({
        reason: 'CONFLICT',
        message: 'tasks.db is shared by process 1 on here since 1970-01-01T00:16:40.000Z',
        hint,
      }),
    );
    alive.add(3);
    clock.advance(1);
    acquireShared(fakeProcess(3));
    expect(() => acquire(fakeProcess(2))).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('tasks.db is shared by process 1 on here and 1 more since'),
        hint: hint.replace('that process', 'those processes'),
      }),
    );
    first.release();
    alive.delete(3);
    const alone = acquire(fakeProcess(2));
    expect(isHeld(alone)).toBe(true);
    expect(pids()).toEqual([2]);
  });

  it('passes from an ended exclusive holder to shared holders', () => {
    const first = acquire(fakeProcess(1));
    alive.delete(1);
    expect([acquireShared(fakeProcess(2)), acquireShared(fakeProcess(2))].map(isHeld)).toEqual([true, true]);
    expect(isHeld(first)).toBe(false);
  });

  it('deletes leases of ended processes, but not when the lease is rejected', () => {
    acquireShared(fakeProcess(1));
    acquireShared(fakeProcess(2));
    alive = new Set([2, 3]);
    expect(() => acquire(fakeProcess(3))).toThrow('shared by process 2 on here since');
    expect(pids()).toEqual([1, 2]);
    acquireShared(fakeProcess(3));
    expect(pids()).toEqual([2, 3]);
  });

  it('keeps a shared lease without heartbeat until an exclusive lease is requested', async () => {
    const first = acquirePaused(fakeProcess(1), true);
    clock.advance(timeout);
    const second = await acquireAfter(timeout, fakeProcess(2), true);
    expect(isHeld(first)).toBe(true);
    second.release();
    await acquireAfter(timeout, fakeProcess(2));
    expect(isHeld(first)).toBe(false);
    expect(first.error?.hint).toMatch(/after the other one has ended/);
  });

  it('takes over a shared lease of another host after the heartbeat timeout', async () => {
    const first = acquirePaused(fakeProcess(1, { host: 'there' }), true);
    clock.advance(timeout);
    await acquireAfter(timeout, fakeProcess(2), true);
    expect(isHeld(first)).toBe(false);
    expect(first.error).toMatchObject({
      cause: { message: expect.stringContaining('process 2 on here took over the lease of tasks.db') },
      hint: 'Restart this process.',
    });
  });

  it('keeps the lease while its holder sends heartbeats', () => {
    const first = acquire(fakeProcess(1));
    for (let n = 0; n < 20; n++) clock.advance(heartbeat);
    expect(clock.delays).toEqual(Array.from({ length: 21 }, () => heartbeat));
    expect(() => acquire(fakeProcess(2))).toThrow('in use by process 1');
    expect(isHeld(first)).toBe(true);
  });

  it('takes over the lease of an ended process at once', () => {
    const first = acquire(fakeProcess(1));
    alive.delete(1);
    const second = acquire(fakeProcess(2));
    expect(isHeld(second)).toBe(true);
    expect(isHeld(first)).toBe(false);
  });

  it('takes over the lease of a live pid whose heartbeat does not change for the timeout', async () => {
    const first = acquirePaused(fakeProcess(1));
    clock.advance(timeout - 1);
    await expect(acquireAfter(0, fakeProcess(2))).rejects.toThrow('in use by process 1');
    clock.advance(1);
    await expect(acquireAfter(timeout - 100, fakeProcess(2))).rejects.toThrow('in use by process 1');
    expect(isHeld(await acquireAfter(timeout, fakeProcess(2)))).toBe(true);
    expect(isHeld(first)).toBe(false);
  });

  it.each([60_000, -60_000, 3_600_000])(
    'keeps the lease of a living process when the clock changes by %i ms',
    async (step) => {
      for (const more of [{}, { host: 'there' }]) {
        const first = acquire(fakeProcess(1, more));
        clock.step(step);
        await expect(acquireAfter(2 * timeout, fakeProcess(2))).rejects.toThrow('in use by process 1');
        expect(isHeld(first)).toBe(true);
        first.release();
      }
    },
  );

  it('uses the timeout recorded by its holder', () => {
    acquire(fakeProcess(1));
    clock.advance(heartbeat - 1);
    const impatient = { file: 'tasks.db', timeout: 1_000, clock, self: fakeProcess(2) };
    expect(() => new Lease(database, impatient)).toThrow('in use by process 1');
    expect(() => new Lease(database, { ...impatient, timeout: 0 })).toThrow(
      'leaseTimeout must be at least 1,000 milliseconds',
    );
  });

  it('takes over a lease whose heartbeat stays in the future', async () => {
    acquirePaused(fakeProcess(1));
    clock.step(-timeout);
    expect(isHeld(await acquireAfter(timeout, fakeProcess(2)))).toBe(true);
  });

  it.each([
    ['another host', { host: 'there' }],
    ['another container', { pidNamespace: 'pid:[2]' }],
  ])('reports the remaining time to a process on %s, where the pid is not valid', (_where, more) => {
    acquire(fakeProcess(7));
    expect(alive).not.toContain(7);
    clock.advance(1);
    expect(() => acquire(fakeProcess(2, more))).toThrow(
      expect.objectContaining({
        hint: expect.stringContaining('If it has already ended, the lease expires in 9 seconds.'),
      }),
    );
  });

  it('rejects a second lease in the same process', () => {
    const first = acquire(fakeProcess(1));
    expect(() => acquire(fakeProcess(1))).toThrow('tasks.db has been open in this process since');
    first.release();
    expect(isHeld(acquire(fakeProcess(1)))).toBe(true);
  });

  it('takes over the lease of a reused pid at once', () => {
    acquire(fakeProcess(1));
    clock.advance(1_000);
    expect(isHeld(acquire(fakeProcess(1, { startedAt: clock.now() - 1 })))).toBe(true);
  });

  it('releases only its own lease', () => {
    const first = acquire(fakeProcess(1));
    alive.delete(1);
    const second = acquire(fakeProcess(2));
    first.release();
    expect(isHeld(second)).toBe(true);
    second.release();
    expect(clock.pending).toBe(0);
    expect(database.prepare('select * from lease').get([])).toBeUndefined();
  });

  it('detects a lost lease at the next heartbeat and stops the heartbeats', async () => {
    const errors: A2AError[] = [];
    const onLost = (error: A2AError): number => errors.push(error);
    const first = new Lease(database, { file: 'tasks.db', timeout, clock, self: fakeProcess(1), onLost });
    alive.delete(1);
    const second = acquire(fakeProcess(2));
    expect(first.error).toBeUndefined();
    clock.advance(heartbeat);
    expect(first.error).toMatchObject({
      reason: 'UNAVAILABLE',
      message: 'The task store is not available',
      cause: {
        message: expect.stringContaining('process 2 on here took over the lease of tasks.db at 1970-01-01'),
      },
    });
    expect(clock.pending).toBe(1);
    second.release();
    // A lost lease stays lost, even if no process holds one now.
    expect(isHeld(first)).toBe(false);
    await Promise.resolve();
    expect(errors).toEqual([first.error]);
  });

  it('retries the heartbeat when the file is busy', () => {
    const first = acquire(fakeProcess(1));
    database.exec('pragma query_only = on');
    clock.advance(heartbeat);
    database.exec('pragma query_only = off');
    expect(first.error).toBeUndefined();
    clock.advance(heartbeat);
    expect(database.prepare('select heartbeat_at from lease').get([])?.['heartbeat_at']).toBe(clock.now());
  });

  it('checks and acquires in one transaction', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-lease-'));
    const file = join(folder, 'tasks.db');
    const [one, two] = [await openDatabase(file), await openDatabase(file)];
    try {
      createSchema(one);
      for (const each of [one, two]) each.exec('pragma busy_timeout = 0');
      one.exec('begin immediate');
      const acquireSecond = (): Lease => new Lease(two, { file, timeout, clock, self: fakeProcess(2) });
      expect(acquireSecond).toThrow(expect.objectContaining({ reason: 'UNAVAILABLE' }));
      one.exec('rollback');
      const first = new Lease(one, { file, timeout, clock, self: fakeProcess(1) });
      expect(acquireSecond).toThrow('in use by process 1');
      first.check();
    } finally {
      one.close();
      two.close();
      rmSync(folder, { recursive: true });
    }
  });
});

it('currentProcess.isAlive returns true for existing pids only', () => {
  expect(currentProcess.isAlive(process.pid)).toBe(true);
  expect(currentProcess.isAlive(2 ** 22 + 1)).toBe(false);
  expect(currentProcess.startedAt).toBeLessThanOrEqual(Date.now());
});
