import { describe, expect, it } from 'vitest';
import { rawPart } from '../../../../src/protocol/part.ts';
import { partFileName, choosePartDisplay, joinTexts } from './part-display.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('the form of a part', () => {
  it('follows its media type or its name', () => {
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

  it('is text where JSON is promised and not given', () => {
    expect(choosePartDisplay({ text: '{', mediaType: 'application/json' })).toEqual({
      kind: 'text',
      text: '{',
    });
  });

  it('is never a page: HTML is shown as it is written', () => {
    expect(choosePartDisplay(rawPart(bytes('<script>'), { mediaType: 'text/html' }))).toEqual({
      kind: 'text',
      text: '<script>',
    });
  });

  it('is said in words when bytes are not bytes', () => {
    expect(choosePartDisplay({ raw: '***' }).kind).toBe('text');
  });

  it('may be the value null', () => {
    expect(choosePartDisplay({ data: null })).toEqual({ kind: 'json', value: null });
  });
});

describe('chunks of text', () => {
  it('are one text again', () => {
    expect(joinTexts([{ text: 'a' }, { text: 'b' }, { data: 1 }, { text: 'c' }])).toEqual([
      { text: 'ab' },
      { data: 1 },
      { text: 'c' },
    ]);
  });

  it('stay apart when they are different files', () => {
    const parts = [
      { text: 'a', filename: 'a.txt' },
      { text: 'b', filename: 'b.txt' },
    ];
    expect(joinTexts(parts)).toEqual(parts);
  });
});

describe('the name to save a part by', () => {
  it('is its own, or that of the artifact with an ending', () => {
    expect(partFileName({ text: '', filename: 'x.md' }, 'report')).toBe('x.md');
    expect(partFileName({ text: '', mediaType: 'text/csv' }, 'report')).toBe('report.csv');
    expect(partFileName({ data: 1 }, 'report')).toBe('report.json');
    expect(partFileName({ raw: '' }, 'report.zip')).toBe('report.zip');
  });
});
