import { describe, expect, it } from 'vitest';
import { readTrafficFile, writeTrafficFile } from './traffic-file.ts';
import type { TrafficRecord } from './traffic-record.ts';

const passage: TrafficRecord = {
  sequence: 1,
  at: 1_000,
  exchangeId: 'a',
  kind: 'end',
  from: 'a',
  to: 'b',
  text: 'The stream ended\u2028',
  elapsed: 3,
  decoded: {
    summary: 'The stream ended',
    findings: [{ rule: 'unfinished', level: 'error', index: 1, message: 'x' }],
  },
};

describe('the file of a tap', () => {
  it('holds what was written', () => {
    const text = writeTrafficFile([passage, { ...passage, sequence: 2 }]);
    expect(readTrafficFile(text)).toEqual([passage, { ...passage, sequence: 2 }]);
    expect(text.split('\n')).toHaveLength(4);
  });

  it('may be two, one after the other, and may break off', () => {
    const text = writeTrafficFile([passage]);
    expect(readTrafficFile(text + text + text.slice(38, 60)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(readTrafficFile(writeTrafficFile([]))).toEqual([]);
  });

  it.each([
    ['', 'Line 1 is not the beginning of the file of a tap'],
    ['{}\n', 'Line 1 is not the beginning of the file of a tap'],
    ['hello\n', 'Line 1 is not the beginning of the file of a tap'],
    ['{"format":"dragoman-tap","version":2}\n', 'Line 1 is of version 2, which is not known here'],
    [`${writeTrafficFile([passage])}no\n`, 'Line 3 is not JSON'],
    [writeTrafficFile([{ ...passage, kind: 'else' as never }]), 'Line 2 is no passage: kind'],
  ])('is not %j', (text, message) => {
    expect(() => readTrafficFile(text)).toThrow(message);
  });
});
