import { describe, expect, it } from 'vitest';
import { RawFrameReader } from '../../wire/raw-frame-reader.ts';
import { frameEvents, type SseFraming } from './sse-framing.ts';

const events = [{ text: 'Grüße 你好 🎉' }, { nested: { list: [1, null] } }];
const framings: readonly SseFraming[] = [
  'plain',
  'bytes',
  'one-chunk',
  'crlf',
  'cr',
  'comments',
  'lines',
  'byte-order-mark',
  'fields',
  'tail',
];

/** Reads a stream as a correct client does. */
function read(chunks: readonly Uint8Array[]): unknown[] {
  const decoder = new TextDecoder('utf-8');
  const reader = new RawFrameReader(() => 0);
  return chunks
    .flatMap((chunk) => reader.push(decoder.decode(chunk, { stream: true })))
    .flatMap(({ data }): unknown[] => (data === undefined ? [] : [JSON.parse(data)]));
}

describe('frameEvents', () => {
  it.each(framings)('writes the same events in the form %s', (framing) => {
    expect(read(frameEvents(events, framing))).toEqual(events);
  });

  it('splits within characters, between CR and LF, and not at all', () => {
    expect(frameEvents(events, 'bytes').every(({ length }) => length === 1)).toBe(true);
    expect(frameEvents(events, 'one-chunk')).toHaveLength(1);
    expect(frameEvents(events, 'crlf').map((chunk) => chunk.at(-1))).toEqual([13, 10, 13, 10]);
  });
});
