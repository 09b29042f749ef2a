import { describe, expect, it } from 'vitest';
import type { ClientFlaw } from './client-flaws.ts';
import { ReferenceSseReader } from './reference-sse-reader.ts';

/** Returns the data of the events in the chunks. */
function read(chunks: readonly string[], flaw?: ClientFlaw): string[] {
  const reader = new ReferenceSseReader((each) => each === flaw);
  return chunks.flatMap((chunk) => reader.push(chunk));
}

const stream = '\uFEFFdata: a\r\ndata: b\r\n\r\n: comment\rdata:c\r\rdata: d\ndata\n\n';

describe('ReferenceSseReader', () => {
  it('reads the same events however the stream is divided', () => {
    expect(read([stream])).toEqual(['a\nb', 'c', 'd']);
    expect(read(stream.split(''))).toEqual(['a\nb', 'c', 'd']);
    for (let at = 0; at <= stream.length; at++)
      expect(read([stream.slice(0, at), stream.slice(at)])).toEqual(['a\nb', 'c', 'd']);
  });

  it('ends lines only at line feeds with the flaw splits-at-line-feeds', () => {
    expect(read(['data: a\r', '\n\r\n', 'data: b\n', '\n'], 'splits-at-line-feeds')).toEqual(['a\r\nb']);
  });

  it('counts the incomplete event of many chunks', () => {
    const reader = new ReferenceSseReader(() => false);
    reader.push('data: first\ndata: ');
    for (let i = 0; i < 100; i++) reader.push('x'.repeat(1_000));
    expect(() => reader.checkSize(100_011)).not.toThrow();
    expect(() => reader.checkSize(100_010)).toThrow('An event is too large');
  });
});
