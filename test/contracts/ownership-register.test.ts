import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { memoryOwnershipRegister } from '../../src/gateway/ownership/memory-ownership-register.ts';
import type { OwnershipRegister } from '../../src/gateway/ownership/ownership-register.ts';
import { sqliteOwnershipRegister } from '../../src/gateway/ownership/sqlite-ownership-register.ts';
import { postgresOwnershipRegister } from '../../src/gateway/ownership/postgres-ownership-register.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';

const open = closeAfterEach();

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'register-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  return join(folder, 'owners.db');
}

async function openSqlite(file = temporaryFile(), maxPerOwner?: number): Promise<OwnershipRegister> {
  const register = await sqliteOwnershipRegister({ file, ...(maxPerOwner && { maxPerOwner }) });
  open.push({ close: async () => register.close?.() });
  return register;
}

const postgres = usePostgres();
let schemas = 0;

async function openPostgres(schema = `r${schemas++}`, maxPerOwner?: number): Promise<OwnershipRegister> {
  const register = await postgresOwnershipRegister({
    url: postgres().url,
    schema,
    ...(maxPerOwner && { maxPerOwner }),
  });
  open.push({ close: async () => register.close?.() });
  return register;
}

const registers: { [name: string]: () => Promise<OwnershipRegister> } = {
  memory: async () => memoryOwnershipRegister(),
  sqlite: () => openSqlite(),
  ...(hasPostgres && { postgres: () => openPostgres() }),
};

for (const [name, create] of Object.entries(registers)) {
  describe(`ownership register: ${name}`, () => {
    it('keeps the first owner of a task and its context', async () => {
      const register = await create();
      expect(await register.taskOwner('agent', 't')).toBeUndefined();
      expect(await register.claimTask('agent', 'alice', { taskId: 't', contextId: 'c' })).toBe('alice');
      expect(await register.claimTask('agent', 'bob', { taskId: 't', contextId: 'd' })).toBe('alice');
      await register.claimContext('agent', 'bob', 'c');
      expect(await register.taskOwner('agent', 't')).toBe('alice');
      expect(await register.contextOwner('agent', 'c')).toBe('alice');
      expect(await register.contextOwner('agent', 'd')).toBeUndefined();
    });

    it('separates agents, tasks and contexts, and the anonymous owner', async () => {
      const register = await create();
      await register.claimTask('one', 'alice', { taskId: 'x', contextId: '' });
      await register.claimTask('two', '', { taskId: 'x', contextId: 'c' });
      expect(await register.taskOwner('one', 'x')).toBe('alice');
      expect(await register.taskOwner('two', 'x')).toBe('');
      expect(await register.contextOwner('one', 'x')).toBeUndefined();
      expect(await register.contextOwner('one', '')).toBeUndefined();
    });

    it('counts the tasks of an owner, in all contexts and in one', async () => {
      const register = await create();
      for (const [taskId, contextId] of [
        ['1', 'c'],
        ['2', 'c'],
        ['3', 'd'],
      ] as const)
        await register.claimTask('agent', 'alice', { taskId, contextId });
      await register.claimTask('agent', 'bob', { taskId: '4', contextId: 'c' });
      expect(await register.countTasks('agent', 'alice')).toBe(3);
      expect(await register.countTasks('agent', 'alice', 'c')).toBe(2);
      expect(await register.countTasks('agent', 'bob', 'c')).toBe(1);
      expect(await register.countTasks('other', 'alice')).toBe(0);
    });

    it('preserves ids and owners of any characters', async () => {
      const register = await create();
      const odd = ["'; drop table gateway_owners; --", 'a\u0000b', '\ud800', 'ä'.repeat(300), ''];
      for (const id of odd)
        expect(await register.claimTask('agent', id, { taskId: id, contextId: id })).toBe(id);
      for (const id of odd) expect(await register.taskOwner('agent', id)).toBe(id);
    });

    it('stores aliases per agent', async () => {
      const register = await create();
      const alias = { clientTaskId: 'mine', clientContextId: undefined, taskId: 't', contextId: 'c' };
      await register.aliases('one').set('key', alias);
      expect(await register.aliases('one').get('key')).toEqual(alias);
      expect(await register.aliases('two').get('key')).toBeUndefined();
    });
  });
}

describe('memory ownership register', () => {
  it('evicts entries of the owner with the most, and no others', async () => {
    const register = memoryOwnershipRegister({ max: 20 });
    for (let i = 0; i < 5; i++) await register.claimTask('agent', 'bob', { taskId: `b${i}`, contextId: '' });
    for (let i = 0; i < 1000; i++)
      await register.claimTask('agent', 'mallory', { taskId: `m${i}`, contextId: `c${i}` });
    expect(await register.countTasks('agent', 'bob')).toBe(5);
    expect(await register.countTasks('agent', 'mallory')).toBeLessThanOrEqual(15);
    await register.claimTask('agent', 'carol', { taskId: 'late', contextId: 'late' });
    expect(await register.taskOwner('agent', 'late')).toBe('carol');
    expect(await register.countTasks('agent', 'bob')).toBe(5);
  });
});

describe.each([
  ['SQLite', openSqlite, temporaryFile, true],
  ['PostgreSQL', openPostgres, () => `r${schemas++}`, hasPostgres],
] as const)('ownership register that gateways share: %s', (_name, openAt, newPlace, isInstalled) => {
  it.skipIf(!isInstalled)('gives a task that two processes claim to one owner', async () => {
    const place = newPlace();
    const [one, two] = [await openAt(place), await openAt(place)];
    const claims = ['alice', 'bob'].map(async (owner, at) =>
      [one, two][at]?.claimTask('agent', owner, { taskId: 't', contextId: 'c' }),
    );
    const [first, second] = await Promise.all(claims);
    expect(second).toBe(first);
    expect(await one.contextOwner('agent', 'c')).toBe(first);
    expect(await two.contextOwner('agent', 'c')).toBe(first);
  });

  it.skipIf(!isInstalled)(
    'evicts the oldest tasks of an owner beyond the maximum, and no others',
    async () => {
      const place = newPlace();
      const register = await openAt(place, 10);
      await register.claimTask('agent', 'bob', { taskId: 'b', contextId: 'b' });
      for (let i = 0; i < 1004; i++)
        await register.claimTask('agent', 'mallory', { taskId: `m${i}`, contextId: `c${i}` });
      const other = await openAt(place);
      expect(await other.countTasks('agent', 'mallory')).toBeLessThan(600);
      expect(await other.taskOwner('agent', 'm0')).toBeUndefined();
      expect(await other.taskOwner('agent', 'm1003')).toBe('mallory');
      expect(await other.taskOwner('agent', 'b')).toBe('bob');
    },
  );
});
