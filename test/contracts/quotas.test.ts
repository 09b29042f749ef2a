import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { postgresOwnershipRegister } from '../../src/gateway/ownership/postgres-ownership-register.ts';
import { sqliteOwnershipRegister } from '../../src/gateway/ownership/sqlite-ownership-register.ts';
import { memoryQuotas } from '../../src/gateway/policy/quotas/memory-quotas.ts';
import { quotaPeriodAt } from '../../src/gateway/policy/quotas/quota-period.ts';
import type { QuotaStore } from '../../src/gateway/policy/quotas/quota-store.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { hasPostgres, usePostgres } from '../support/store/postgres-server.ts';

const open = closeAfterEach();
const postgres = usePostgres();
let schemas = 0;

/** Opens the quotas of a store twice, as two gateways do. */
const stores: { [name: string]: () => Promise<[QuotaStore, QuotaStore]> } = {
  memory: async () => {
    const quotas = memoryQuotas();
    return [quotas, quotas];
  },
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quotas-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    return openTwice(() => sqliteOwnershipRegister({ file: join(folder, 'gateway.db') }));
  },
  ...(hasPostgres && {
    postgres: () => {
      const schema = `q${schemas++}`;
      return openTwice(() => postgresOwnershipRegister({ url: postgres().url, schema }));
    },
  }),
};

async function openTwice(
  openRegister: () => ReturnType<typeof postgresOwnershipRegister>,
): Promise<[QuotaStore, QuotaStore]> {
  const registers = [await openRegister(), await openRegister()];
  for (const register of registers) open.push({ close: async () => register.close?.() });
  const [first, second] = registers.map((register) => register.quotas?.());
  if (!first || !second) throw new Error('no quotas');
  return [first, second];
}

for (const [name, openStore] of Object.entries(stores)) {
  describe(`quotas: ${name}`, () => {
    it('counts to the limit over two gateways, and starts again in the next period', async () => {
      const [one, two] = await openStore();
      const counter = { key: 'alice', start: 1000 };
      expect(await one.take(counter, 2)).toBe(1);
      expect(await two.take(counter, 2)).toBe(2);
      expect(await one.take(counter, 2)).toBeUndefined();
      expect(await two.take({ key: 'bob', start: 1000 }, 2)).toBe(1);
      await two.giveBack(counter);
      expect(await one.take(counter, 2)).toBe(2);
      expect(await one.take({ ...counter, start: 2000 }, 2)).toBe(1);
      // The clock of the other gateway is late.
      expect(await two.take(counter, 2)).toBe(2);
      await two.giveBack({ ...counter, start: 3000 });
      expect(await two.take({ ...counter, start: 2000 }, 2)).toBeUndefined();
    });

    it('lets exactly as many concurrent requests pass as the limit allows', async () => {
      const [one, two] = await openStore();
      const counter = { key: 'x'.repeat(3000), start: 1000 };
      const taken = await Promise.all(
        Array.from({ length: 60 }, async (_, i) => (i % 2 === 0 ? one : two).take(counter, 25)),
      );
      const counts = taken.filter((used) => used !== undefined).toSorted((a, b) => a - b);
      expect(counts).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
    });
  });
}

describe('quotaPeriodAt', () => {
  it('returns the hour, day and month of the calendar in UTC', () => {
    const time = Date.parse('2027-12-31T23:59:59.999Z');
    const periodOf = (per: 'hour' | 'day' | 'month') => {
      const { start, end } = quotaPeriodAt(per, time);
      return [new Date(start).toISOString(), new Date(end).toISOString()];
    };
    expect(periodOf('hour')).toEqual(['2027-12-31T23:00:00.000Z', '2028-01-01T00:00:00.000Z']);
    expect(periodOf('day')).toEqual(['2027-12-31T00:00:00.000Z', '2028-01-01T00:00:00.000Z']);
    expect(periodOf('month')).toEqual(['2027-12-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']);
  });
});
