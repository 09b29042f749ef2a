import { describe, expect, it } from 'vitest';
import { readTrafficFile, writeTrafficFile } from './traffic-file.ts';
import type { TrafficRecord } from './traffic-record.ts';

const record: TrafficRecord = {
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

describe('traffic file', () => {
  it('returns the written records', () => {
    const text = writeTrafficFile([record, { ...record, sequence: 2 }]);
    expect(readTrafficFile(text)).toEqual([record, { ...record, sequence: 2 }]);
    expect(text.split('\n')).toHaveLength(4);
  });

  it('renumbers appended runs and ignores an incomplete last line', () => {
    const text = writeTrafficFile([record]);
    expect(readTrafficFile(text + text + text.slice(38, 60)).map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(readTrafficFile(writeTrafficFile([]))).toEqual([]);
  });

  it.each([
    ['', 'Line 1 is not the header of a traffic file'],
    ['{}\n', 'Line 1 is not the header of a traffic file'],
    ['hello\n', 'Line 1 is not the header of a traffic file'],
    ['{"format":"dragoman-tap","version":2}\n', 'Line 1 has unsupported file version 2'],
    [`${writeTrafficFile([record])}no\n`, 'Line 3 is not JSON'],
    [writeTrafficFile([{ ...record, kind: 'else' as never }]), 'Line 2 is not a traffic record: kind'],
  ])('rejects %j', (text, message) => {
    expect(() => readTrafficFile(text)).toThrow(message);
  });
});
