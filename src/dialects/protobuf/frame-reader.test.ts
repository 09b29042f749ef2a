import { array, assert, integer, property, uint8Array } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from './frame-reader.ts';
import { prefixSize, writePrefix } from './length-prefix.ts';

function toFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(prefixSize + message.length);
  frame.set(message, prefixSize);
  writePrefix(frame);
  return frame;
}

describe('FrameReader', () => {
  it('returns the same messages however the bytes are cut', () => {
    assert(
      property(
        array(uint8Array({ maxLength: 40 }), { maxLength: 6 }),
        array(integer({ min: 1, max: 30 }), { minLength: 1 }),
        (messages, cuts) => {
          const bytes = Uint8Array.from(messages.flatMap((message) => [...toFrame(message)]));
          const reader = new FrameReader(40);
          const read: Uint8Array[] = [];
          for (let at = 0, i = 0; at < bytes.length; i++) {
            const end = at + (cuts[i % cuts.length] ?? 1);
            read.push(...reader.push(bytes.slice(at, end)));
            at = end;
          }
          expect(read.map((message) => [...message])).toEqual(messages.map((message) => [...message]));
          expect(reader.isComplete).toBe(true);
        },
      ),
    );
  });

  it('rejects a message above the limit before its bytes arrive, and compressed messages', () => {
    expect(() => new FrameReader(10).push(Uint8Array.of(0, 0, 0, 0, 11))).toThrow(/11 bytes, more than 10/);
    expect(() => new FrameReader(10).push(Uint8Array.of(1, 0, 0, 0, 1, 0))).toThrow(/compressed/);
  });

  it('returns the messages in front of one that is too large before it rejects that one', () => {
    const reader = new FrameReader(2);
    expect(reader.push(Uint8Array.of(0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 3))).toEqual([Uint8Array.of(7)]);
    expect(reader.isComplete).toBe(false);
    expect(() => reader.push(Uint8Array.of(1))).toThrow('3 bytes, more than 2');
  });

  it('is not complete within a frame', () => {
    const reader = new FrameReader(10);
    expect(reader.push(Uint8Array.of(0, 0))).toEqual([]);
    expect(reader.isComplete).toBe(false);
    expect(reader.push(Uint8Array.of(0, 0, 2, 7))).toEqual([]);
    expect(reader.isComplete).toBe(false);
    expect(reader.push(Uint8Array.of(8))).toEqual([Uint8Array.of(7, 8)]);
    expect(reader.isComplete).toBe(true);
  });
});
