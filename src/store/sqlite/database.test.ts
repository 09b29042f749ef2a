import { expect, it, vi } from 'vitest';
import { openDatabase } from './database.ts';

it('maps temporary SQLite errors to UNAVAILABLE and all others to INTERNAL_ERROR', async () => {
  const database = await openDatabase(':memory:');
  expect(() => database.exec('no such language')).toThrow(
    expect.objectContaining({ reason: 'INTERNAL_ERROR' }),
  );
  expect(() => database.prepare('select * from nothing')).toThrow(
    expect.objectContaining({ reason: 'INTERNAL_ERROR', message: 'Internal error' }),
  );
  database.exec('create table t (n integer unique)');
  const insert = database.prepare('insert into t values (?)');
  expect(insert.run([1])).toBe(1);
  expect(() => insert.run([1])).toThrow(expect.objectContaining({ reason: 'INTERNAL_ERROR' }));
  expect(database.prepare('select n from t').all([])).toMatchObject([{ n: 1 }]);
  expect(database.prepare('select n from t where n = 2').get([])).toBeUndefined();
  database.exec('pragma query_only = on');
  expect(() => insert.run([2])).toThrow(expect.objectContaining({ reason: 'UNAVAILABLE' }));
  database.close();
});

it('may be closed twice', async () => {
  const database = await openDatabase(':memory:');
  database.close();
  expect(() => database.close()).not.toThrow();
});

it.skipIf(process.getBuiltinModule('node:sqlite') !== undefined)(
  'names the install command when libsql is missing',
  async () => {
    vi.doMock('libsql', () => {
      throw new Error('not installed');
    });
    await expect(openDatabase(':memory:')).rejects.toMatchObject({
      message: expect.stringContaining('npm install libsql'),
      hint: 'npm install libsql',
    });
    vi.doUnmock('libsql');
  },
);
