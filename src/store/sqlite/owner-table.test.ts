import { expect, it } from 'vitest';
import { type Database, inTransaction, openDatabase } from './database.ts';
import { OwnerTable } from './owner-table.ts';

it('does not return the key of an owner whose insertion was rolled back', async () => {
  const database = await openDatabase(':memory:');
  database.exec('create table owners (key integer primary key, name text not null unique)');
  const owners = new OwnerTable(database);
  const fullDisk: Database = {
    ...database,
    exec(sql) {
      if (sql === 'commit') throw new Error('disk full');
      database.exec(sql);
    },
  };
  expect(() => inTransaction(fullDisk, () => owners.insert('ann'))).toThrow('disk full');
  const bob = inTransaction(database, () => owners.insert('bob'));
  expect(owners.find('ann')).toBeUndefined();
  expect(owners.find('bob')).toBe(bob);
  database.close();
});
