import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import type { OwnershipRegister } from '../../src/gateway/ownership/ownership-register.ts';
import { postgresOwnershipRegister } from '../../src/gateway/ownership/postgres-ownership-register.ts';
import { sqliteOwnershipRegister } from '../../src/gateway/ownership/sqlite-ownership-register.ts';
import type { MeshRegister } from '../../src/mesh/sharing/mesh-register.ts';
import { openDatabase } from '../../src/store/sqlite/database.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';

const open = closeAfterEach();
const postgres = usePostgres();
let schemas = 0;

/** Registers of two gateways, and functions that let time pass in their storage. */
interface Registers {
  readonly registers: readonly [OwnershipRegister, OwnershipRegister];
  readonly endClaims: () => Promise<unknown>;
  readonly ageEntries: () => Promise<unknown>;
}

async function openSqlite(): Promise<Registers> {
  const folder = mkdtempSync(join(tmpdir(), 'register-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  const file = join(folder, 'gateway.db');
  const change = async (sql: string): Promise<void> => {
    const database = await openDatabase(file);
    database.exec(sql);
    database.close();
  };
  return {
    registers: [await sqliteOwnershipRegister({ file }), await sqliteOwnershipRegister({ file })],
    endClaims: () => change('update gateway_mesh_entries set claimed_until = 1 where claimed_until > 0'),
    ageEntries: () => change('update gateway_mesh_entries set stored_at = stored_at - 3600001'),
  };
}

async function openPostgres(): Promise<Registers> {
  const options = { url: postgres().url, schema: `entries${schemas++}` };
  const pool = new Pool({ connectionString: options.url });
  open.push({ close: () => pool.end() });
  const table = `${options.schema}.gateway_mesh_entries`;
  return {
    registers: [await postgresOwnershipRegister(options), await postgresOwnershipRegister(options)],
    endClaims: () =>
      pool.query(`update ${table} set claimed_until = 'epoch' where claimed_until is not null`),
    ageEntries: () =>
      pool.query(`update ${table} set stored_at = stored_at - interval '3600001 milliseconds'`),
  };
}

const stores = [
  ['SQLite', false, openSqlite],
  ['PostgreSQL', !hasPostgres, openPostgres],
] as const;

describe.each(stores)('mesh register in %s', (_name, isSkipped, openRegisters) => {
  /** Opens the registers of an agent at two gateways. */
  async function openBoth(agent = 'agent') {
    const { registers, endClaims, ageEntries } = await openRegisters();
    for (const register of registers) open.push({ close: async () => register.close?.() });
    const [one, two] = registers.map((register) => register.meshRegister?.(agent)) as [
      MeshRegister,
      MeshRegister,
    ];
    return { one, two, endClaims, ageEntries, registers };
  }

  it.skipIf(isSkipped)('stores values for all gateways, separated by agent', async () => {
    const { one, two, registers } = await openBoth();
    const key = `key \u0000 \ud800 ${'x'.repeat(5_000)}`;
    expect(await one.get(key)).toBeUndefined();
    await one.set(key, '{"text":"\\u0000"}');
    expect(await two.get(key)).toEqual({ value: '{"text":"\\u0000"}', isClaimed: false });
    await two.set(key, 'b');
    expect(await one.get(key)).toEqual({ value: 'b', isClaimed: false });
    expect(await registers[0].meshRegister?.('other').get(key)).toBeUndefined();
  });

  it.skipIf(isSkipped)('lets one gateway claim an entry until it has a value', async () => {
    const { one, two } = await openBoth();
    const claims = await Promise.all([one, two].map(async (register) => register.claim('k')));
    expect(claims.filter((entry) => entry === undefined)).toHaveLength(1);
    expect(claims.filter((entry) => entry?.isClaimed)).toHaveLength(1);
    await one.set('k', 'done');
    expect(await two.claim('k')).toEqual({ value: 'done', isClaimed: false });
  });

  it.skipIf(isSkipped)('ends claims that are not renewed', async () => {
    const { one, two, endClaims } = await openBoth();
    for (const key of ['lost', 'renewed']) await one.claim(key);
    await one.set('stored', 'v');
    await endClaims();
    expect((await two.get('lost'))?.isClaimed).toBe(false);
    await one.renew(['renewed', 'stored', 'unknown']);
    expect(await two.claim('lost')).toBeUndefined();
    expect((await two.claim('renewed'))?.isClaimed).toBe(true);
    expect(await two.get('stored')).toEqual({ value: 'v', isClaimed: false });
    expect(await two.get('unknown')).toBeUndefined();
  });

  it.skipIf(isSkipped)('deletes an entry only with its current value', async () => {
    const { one, two } = await openBoth();
    await one.set('k', 'new');
    await two.delete('k', 'old');
    expect((await one.get('k'))?.value).toBe('new');
    await two.delete('k', 'new');
    expect(await one.get('k')).toBeUndefined();
  });

  it.skipIf(isSkipped)('evicts entries after an hour', async () => {
    const { one, ageEntries } = await openBoth();
    await one.set('old', 'v');
    await ageEntries();
    for (let n = 0; n < 260; n++) await one.set('k', `${n}`);
    expect(await one.get('old')).toBeUndefined();
    expect((await one.get('k'))?.value).toBe('259');
  });
});
