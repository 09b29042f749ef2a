import { describe, expect, it } from 'vitest';
import { rawPart } from '../../../../src/protocol/part.ts';
import { partFileName, choosePartDisplay, joinTexts } from './part-display.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('part presentation', () => {
  it('depends on media type or file name', () => {
    expect(choosePartDisplay({ text: 'a,b', mediaType: 'text/csv; charset=utf-8' }).kind).toBe('csv');
    expect(choosePartDisplay(rawPart(bytes('a,b'), { filename: 'X.CSV' }))).toEqual({
      kind: 'csv',
      text: 'a,b',
    });
    expect(choosePartDisplay({ text: '{"a":1}', mediaType: 'application/json' })).toMatchObject({
      kind: 'json',
      value: { a: 1 },
    });
    expect(choosePartDisplay(rawPart(bytes('x'), { mediaType: 'image/png' })).kind).toBe('image');
  });

  it('is text if declared JSON is invalid', () => {
    expect(choosePartDisplay({ text: '{', mediaType: 'application/json' })).toEqual({
      kind: 'text',
      text: '{',
    });
  });

  it('shows HTML as source text', () => {
    expect(choosePartDisplay(rawPart(bytes('<script>'), { mediaType: 'text/html' }))).toEqual({
      kind: 'text',
      text: '<script>',
    });
  });

  it('reports invalid base64', () => {
    expect(choosePartDisplay({ raw: '***' }).kind).toBe('text');
  });

  it('accepts the data value null', () => {
    expect(choosePartDisplay({ data: null })).toEqual({ kind: 'json', value: null });
  });
});

describe('text chunks', () => {
  it('are joined', () => {
    expect(joinTexts([{ text: 'a' }, { text: 'b' }, { data: 1 }, { text: 'c' }])).toEqual([
      { text: 'ab' },
      { data: 1 },
      { text: 'c' },
    ]);
  });

  it('are not joined across different files', () => {
    const parts = [
      { text: 'a', filename: 'a.txt' },
      { text: 'b', filename: 'b.txt' },
    ];
    expect(joinTexts(parts)).toEqual(parts);
  });
});

describe('download name', () => {
  it('is the file name, or the artifact name with an extension', () => {
    expect(partFileName({ text: '', filename: 'x.md' }, 'report')).toBe('x.md');
    expect(partFileName({ text: '', mediaType: 'text/csv' }, 'report')).toBe('report.csv');
    expect(partFileName({ data: 1 }, 'report')).toBe('report.json');
    expect(partFileName({ raw: '' }, 'report.zip')).toBe('report.zip');
  });
});
