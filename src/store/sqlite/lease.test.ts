import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { A2AError } from '../../protocol/errors.ts';
import { type Database, openDatabase } from './database.ts';
import { Lease } from './lease.ts';
import { migrate } from './schema.ts';
import { type ProcessIdentity, currentProcess } from './process-identity.ts';

const timeout = 9_000;
const beat = timeout / 3;

let database: Database;
let clock: ManualClock;
/** The processes of this machine that there are. */
let alive: Set<number>;

beforeEach(async () => {
  clock = new ManualClock();
  alive = new Set([1, 2]);
  database = await openDatabase(':memory:');
  migrate(database);
});

afterEach(() => database.close());

const processOf = (pid: number, more: Partial<ProcessIdentity> = {}): ProcessIdentity => ({
  pid,
  host: 'here',
  pidSpace: 'pid:[1]',
  startedAt: clock.now() - 1_000,
  isAlive: (other) => alive.has(other),
  ...more,
});

const take = (self: ProcessIdentity, shared = false): Lease =>
  new Lease(database, { file: 'tasks.db', shared, timeout, clock, self });

const share = (self: ProcessIdentity): Lease => take(self, true);

const hint = 'Stop that process, use another file, or let all of them share it (shared: true).';

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

it('is refused while its holder lives, with who that is and what to do', () => {
  const first = take(processOf(1));
  clock.advance(beat);
  expect(() => take(processOf(2))).toThrow(
    expect.objectContaining({
      reason: 'CONFLICT',
      message: 'tasks.db is in use by process 1 on here since 1970-01-01T00:16:40.000Z',
      hint,
    }),
  );
  expect(isHeld(first)).toBe(true);
});

it('is had by all who share it, each for itself', () => {
  const [first, second, again] = [share(processOf(1)), share(processOf(2)), share(processOf(1))];
  expect([first, second, again].map(isHeld)).toEqual([true, true, true]);
  first.release();
  expect([first, second, again].map(isHeld)).toEqual([false, true, true]);
});

it('is refused to who shares while somebody has it alone', () => {
  const first = take(processOf(1));
  expect(() => share(processOf(2))).toThrow(
    expect.objectContaining({
      reason: 'CONFLICT',
      message: 'tasks.db is in use by process 1 on here since 1970-01-01T00:16:40.000Z',
      hint,
    }),
  );
  first.release();
  expect(isHeld(share(processOf(2)))).toBe(true);
});

it('is refused to who wants it alone while others share it', () => {
  const first = share(processOf(1));
  expect(() => take(processOf(2))).toThrow(
    expect.objectContaining({
      reason: 'CONFLICT',
      message: 'tasks.db is shared by process 1 on here since 1970-01-01T00:16:40.000Z',
      hint,
    }),
  );
  alive.add(3);
  clock.advance(1);
  share(processOf(3));
  expect(() => take(processOf(2))).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('tasks.db is shared by process 1 on here and 1 more since'),
      hint: hint.replace('that process', 'those processes'),
    }),
  );
  first.release();
  alive.delete(3);
  const alone = take(processOf(2));
  expect(isHeld(alone)).toBe(true);
  expect(pids()).toEqual([2]);
});

it('goes from one who had it alone and is dead to all who share', () => {
  const first = take(processOf(1));
  alive.delete(1);
  expect([share(processOf(2)), share(processOf(2))].map(isHeld)).toEqual([true, true]);
  expect(isHeld(first)).toBe(false);
});

it('is swept of those who are gone by everybody who opens it, and of nobody when it is refused', () => {
  share(processOf(1));
  share(processOf(2));
  alive = new Set([2, 3]);
  expect(() => take(processOf(3))).toThrow('shared by process 2 on here since');
  expect(pids()).toEqual([1, 2]);
  share(processOf(3));
  expect(pids()).toEqual([2, 3]);
});

it('is kept by one who shares and is silent but there, until somebody wants it alone', () => {
  const first = share(processOf(1));
  database.exec(`update lease set seen = ${clock.now() - timeout}`);
  const second = share(processOf(2));
  expect(isHeld(first)).toBe(true);
  second.release();
  take(processOf(2));
  expect(isHeld(first)).toBe(false);
  expect(first.fault?.hint).toMatch(/when the other has ended/);
});

it('is lost by one who shares elsewhere and is silent, because nobody can see that it is there', () => {
  const first = share(processOf(1, { host: 'there' }));
  database.exec(`update lease set seen = ${clock.now() - timeout}`);
  share(processOf(2));
  expect(isHeld(first)).toBe(false);
  expect(first.fault).toMatchObject({
    cause: { message: expect.stringContaining('process 2 on here took tasks.db over') },
    hint: 'Restart this process.',
  });
});

it('is held for as long as signs of life are given', () => {
  const first = take(processOf(1));
  for (let n = 0; n < 20; n++) clock.advance(beat);
  expect(clock.delays).toEqual(Array.from({ length: 21 }, () => beat));
  expect(() => take(processOf(2))).toThrow('in use by process 1');
  expect(isHeld(first)).toBe(true);
});

it('goes at once to the next when its holder is dead', () => {
  const first = take(processOf(1));
  alive.delete(1);
  const second = take(processOf(2));
  expect(isHeld(second)).toBe(true);
  expect(isHeld(first)).toBe(false);
});

it('goes to the next when there is a process of that number, but its sign of life is too old', () => {
  const first = take(processOf(1));
  database.exec(`update lease set seen = ${clock.now() - timeout + 1}`);
  expect(() => take(processOf(2))).toThrow('in use by process 1');
  database.exec(`update lease set seen = ${clock.now() - timeout}`);
  expect(isHeld(take(processOf(2)))).toBe(true);
  expect(isHeld(first)).toBe(false);
});

it('is held for as long as its holder said, whatever the next would say', () => {
  take(processOf(1));
  clock.advance(beat - 1);
  const impatient = { file: 'tasks.db', timeout: 1_000, clock, self: processOf(2) };
  expect(() => new Lease(database, impatient)).toThrow('in use by process 1');
  expect(() => new Lease(database, { ...impatient, timeout: 0 })).toThrow(
    'leaseTimeout must be at least 1,000 milliseconds',
  );
});

it('goes to the next when its sign of life is from a clock that was put back', () => {
  take(processOf(1));
  database.exec(`update lease set seen = ${clock.now() + timeout}`);
  expect(isHeld(take(processOf(2)))).toBe(true);
});

it.each([
  ['another host', { host: 'there' }],
  ['another container', { pidSpace: 'pid:[2]' }],
])('tells who comes from %s when it is free, because a number means nothing there', (_where, more) => {
  take(processOf(7));
  expect(alive).not.toContain(7);
  clock.advance(1);
  expect(() => take(processOf(2, more))).toThrow(
    expect.objectContaining({
      hint: expect.stringContaining('If it is gone already, the file is free in 9 seconds.'),
    }),
  );
});

it('is refused to the process that has it', () => {
  const first = take(processOf(1));
  expect(() => take(processOf(1))).toThrow('tasks.db is open in this process already');
  first.release();
  expect(isHeld(take(processOf(1)))).toBe(true);
});

it('goes at once to a process that has the number of one before it', () => {
  take(processOf(1));
  clock.advance(1_000);
  expect(isHeld(take(processOf(1, { startedAt: clock.now() - 1 })))).toBe(true);
});

it('is given up once, and not that of another', () => {
  const first = take(processOf(1));
  alive.delete(1);
  const second = take(processOf(2));
  first.release();
  expect(isHeld(second)).toBe(true);
  second.release();
  expect(clock.pending).toBe(0);
  expect(database.prepare('select * from lease').get([])).toBeUndefined();
});

it('is known to be lost at the next sign of life, and no more are given', async () => {
  const told: A2AError[] = [];
  const onLost = (fault: A2AError): number => told.push(fault);
  const first = new Lease(database, { file: 'tasks.db', timeout, clock, self: processOf(1), onLost });
  alive.delete(1);
  const second = take(processOf(2));
  expect(first.fault).toBeUndefined();
  clock.advance(beat);
  expect(first.fault).toMatchObject({
    reason: 'UNAVAILABLE',
    message: 'The task store is not available',
    cause: { message: expect.stringContaining('process 2 on here took tasks.db over at 1970-01-01') },
  });
  expect(clock.pending).toBe(1);
  second.release();
  // Lost is lost, also when nobody has it now.
  expect(isHeld(first)).toBe(false);
  await Promise.resolve();
  expect(told).toEqual([first.fault]);
});

it('survives a file that is busy when a sign of life is due', () => {
  const first = take(processOf(1));
  database.exec('pragma query_only = on');
  clock.advance(beat);
  database.exec('pragma query_only = off');
  expect(first.fault).toBeUndefined();
  clock.advance(beat);
  expect(database.prepare('select seen from lease').get([])?.['seen']).toBe(clock.now());
});

it('looks and takes in one transaction, so that two do not both find it free', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-lease-'));
  const file = join(folder, 'tasks.db');
  const [one, two] = [await openDatabase(file), await openDatabase(file)];
  try {
    migrate(one);
    for (const each of [one, two]) each.exec('pragma busy_timeout = 0');
    one.exec('begin immediate');
    const late = (): Lease => new Lease(two, { file, timeout, clock, self: processOf(2) });
    expect(late).toThrow(expect.objectContaining({ reason: 'UNAVAILABLE' }));
    one.exec('rollback');
    const first = new Lease(one, { file, timeout, clock, self: processOf(1) });
    expect(late).toThrow('in use by process 1');
    first.check();
  } finally {
    one.close();
    two.close();
    rmSync(folder, { recursive: true });
  }
});

it('knows which processes there are', () => {
  expect(currentProcess.isAlive(process.pid)).toBe(true);
  expect(currentProcess.isAlive(2 ** 22 + 1)).toBe(false);
  expect(currentProcess.startedAt).toBeLessThanOrEqual(Date.now());
});
