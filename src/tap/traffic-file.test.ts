import { describe, expect, it } from 'vitest';
import { readTapFile, writeTapFile } from './traffic-file.ts';
import type { Passage } from './traffic-record.ts';

const passage: Passage = {
  sequence: 1,
  at: 1_000,
  trip: 'a',
  kind: 'end',
  from: 'a',
  to: 'b',
  text: 'The stream ended\u2028',
  after: 3,
  meaning: {
    gist: 'The stream ended',
    findings: [{ rule: 'unfinished', level: 'error', index: 1, message: 'x' }],
  },
};

describe('the file of a tap', () => {
  it('holds what was written', () => {
    const text = writeTapFile([passage, { ...passage, sequence: 2 }]);
    expect(readTapFile(text)).toEqual([passage, { ...passage, sequence: 2 }]);
    expect(text.split('\n')).toHaveLength(4);
  });

  it('may be two, one after the other, and may break off', () => {
    const text = writeTapFile([passage]);
    expect(readTapFile(text + text + text.slice(38, 60)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(readTapFile(writeTapFile([]))).toEqual([]);
  });

  it.each([
    ['', 'Line 1 is not the beginning of the file of a tap'],
    ['{}\n', 'Line 1 is not the beginning of the file of a tap'],
    ['hello\n', 'Line 1 is not the beginning of the file of a tap'],
    ['{"format":"dragoman-tap","version":2}\n', 'Line 1 is of version 2, which is not known here'],
    [`${writeTapFile([passage])}no\n`, 'Line 3 is not JSON'],
    [writeTapFile([{ ...passage, kind: 'else' as never }]), 'Line 2 is no passage: kind'],
  ])('is not %j', (text, message) => {
    expect(() => readTapFile(text)).toThrow(message);
  });
});
