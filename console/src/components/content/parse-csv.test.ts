import { describe, expect, it } from 'vitest';
import { parseCsv } from './parse-csv.ts';

describe('parseCsv', () => {
  it('returns header and rows', () => {
    expect(parseCsv('name,age\nalice,30\nbob,40\n')).toEqual({
      head: ['name', 'age'],
      rows: [
        ['alice', '30'],
        ['bob', '40'],
      ],
      isCut: false,
    });
  });

  it('supports quoted separators, line breaks and quotes', () => {
    expect(parseCsv('a,b\r\n"x, ""y""","1\n2"\r\n').rows).toEqual([['x, "y"', '1\n2']]);
  });

  it('detects semicolons and tabs', () => {
    expect(parseCsv('a;b\n1,5;2').rows).toEqual([['1,5', '2']]);
    expect(parseCsv('a\tb\n1\t2').rows).toEqual([['1', '2']]);
  });

  it('keeps empty cells and skips empty lines', () => {
    expect(parseCsv('a,b\n\n,\n').rows).toEqual([['', '']]);
  });

  it('ends an unclosed quote with the text', () => {
    expect(parseCsv('a\n"never').rows).toEqual([['never']]);
  });

  it('stops at the display limits', () => {
    const table = parseCsv(`n\n${'1\n'.repeat(1000)}`, { maxRows: 10 });
    expect(table.rows).toHaveLength(10);
    expect(table.isCut).toBe(true);
    const wide = parseCsv(`${'x,'.repeat(99)}x\n`, { maxColumns: 5 });
    expect(wide.head).toHaveLength(5);
    expect(wide.isCut).toBe(true);
  });

  it('accepts empty text', () => {
    expect(parseCsv('')).toEqual({ head: [], rows: [], isCut: false });
  });
});
