import { Pool } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import { binaryArrays } from './binary-array.ts';

const server = usePostgres();
let pool: Pool | undefined;
afterAll(() => pool?.end());

const texts = ['', 'a', null, '{"quotes":"\\"","braces":"}{,"}', 'NULL', '日本語 👩‍🚀', 'x'.repeat(100_000)];

describe.skipIf(!hasPostgres)('binaryArrays', () => {
  it.each([
    ['text', binaryArrays.text(texts), texts],
    ['text', binaryArrays.text([]), []],
    ['integer', binaryArrays.integer([0, -1, 2 ** 31 - 1]), [0, -1, 2 ** 31 - 1]],
    [
      'bigint',
      binaryArrays.bigint([0, 1, 2 ** 32, 2 ** 32 - 1, Number.MAX_SAFE_INTEGER]),
      ['0', '1', '4294967296', '4294967295', '9007199254740991'],
    ],
    ['boolean', binaryArrays.boolean([true, false]), [true, false]],
  ])('writes an array of %s that PostgreSQL reads', async (type, parameter, expected) => {
    pool ??= new Pool({ connectionString: server().url });
    const { rows } = await pool.query(`select $1::${type}[] as found`, [parameter]);
    expect(rows[0].found).toEqual(expected);
  });
});
