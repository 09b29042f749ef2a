import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameTooLargeError, formatSseEvent, parseSseFrame, type ServerSentEvent, SseParser } from './sse.ts';

const encoder = new TextEncoder();

function parse(chunks: readonly Uint8Array[], limit?: number): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const parser = new SseParser({ event: (event) => events.push(event) }, limit);
  for (const chunk of chunks) parser.push(chunk);
  return events;
}

function parseText(text: string): ServerSentEvent[] {
  return parse([encoder.encode(text)]);
}

const plain = (data: string): ServerSentEvent => ({ data, event: undefined, id: undefined });

describe('SseParser', () => {
  it.each([
    ['line feeds', 'data: a\n\ndata: b\n\n'],
    ['carriage returns', 'data: a\r\rdata: b\r\r'],
    ['CRLF', 'data: a\r\n\r\ndata: b\r\n\r\n'],
    ['mixed line ends', 'data: a\r\n\ndata: b\n\r\n'],
  ])('accepts %s as line ends', (_name, text) => {
    expect(parseText(text)).toEqual([plain('a'), plain('b')]);
  });

  it.each([
    ['joins data lines', 'data: a\ndata: b\n\n', [plain('a\nb')]],
    ['strips one leading space', 'data:  a\n\n', [plain(' a')]],
    ['accepts a missing space after the colon', 'data:a\n\n', [plain('a')]],
    ['skips comments', ': ping\n\ndata: a\n: pong\n\n', [plain('a')]],
    ['ignores a byte order mark', '\uFEFFdata: a\n\n', [plain('a')]],
    ['ignores unknown fields', 'other: x\nunknown\ndata: a\n\n', [plain('a')]],
    ['reads a field without a colon as empty', 'data\n\n', [plain('')]],
    ['emits no event without data', 'event: x\nid: 4\n\n', []],
    ['drops an unfinished event', 'data: a\n\ndata: b\n', [plain('a')]],
    ['reads event and id', 'id: 7\nevent: error\ndata: a\n\n', [{ data: 'a', event: 'error', id: '7' }]],
    ['does not inherit an id', 'id: 7\ndata: a\n\ndata: b\n\n', [{ ...plain('a'), id: '7' }, plain('b')]],
    ['ignores an id with a null character', 'id: 7\0\ndata: a\n\n', [plain('a')]],
    ['keeps colons in the value', 'data: {"a":1}\n\n', [plain('{"a":1}')]],
  ])('%s', (_name, text, events) => {
    expect(parseText(text)).toEqual(events);
  });

  it('reports a valid retry delay', () => {
    const delays: number[] = [];
    const parser = new SseParser({ event: () => {}, retry: (delay) => delays.push(delay) });
    parser.push(encoder.encode('retry: 1500\nretry: soon\n\n'));
    expect(delays).toEqual([1500]);
  });

  it('decodes characters split across chunks', () => {
    const bytes = encoder.encode('data: 🐉\n\n');
    expect(parse([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual([plain('🐉')]);
  });

  it('rejects a line above the limit', () => {
    expect(() => parse([encoder.encode('data: '), encoder.encode('x'.repeat(40))], 32)).toThrow(
      FrameTooLargeError,
    );
  });

  it('rejects an event above the limit', () => {
    expect(() => parse([encoder.encode('data: 0123456789\n'.repeat(4))], 32)).toThrow(FrameTooLargeError);
  });

  it('emits the same events for any chunking of text', () => {
    const piece = fc.constantFrom(
      'data',
      'id',
      'event',
      ':',
      ' ',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
      'ä',
      '🐉',
      'x',
      '\uFEFF',
    );
    const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 12 });
    fc.assert(
      fc.property(text, cuts, (text, cuts) => {
        const bytes = encoder.encode(text);
        const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
        const chunks = places.slice(1).map((end, i) => bytes.subarray(places[i], end));
        expect(parse(chunks)).toEqual(parse([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  it('emits the same events for any chunking of invalid UTF-8', () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(bytes, fc.nat({ max: 60 }), fc.nat({ max: 60 }), (noise, a, b) => {
        const text = Uint8Array.from([...encoder.encode('data: '), ...noise, ...encoder.encode('\n\n')]);
        const [first, second] = [Math.min(a, b), Math.max(a, b)];
        const chunks = [text.subarray(0, first), text.subarray(first, second), text.subarray(second)];
        expect(parse(chunks)).toEqual(parse([text]));
      }),
      { numRuns: 500 },
    );
  });

  it('parses formatted events', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((text) => !/[\r\n]/.test(text));
    const event = fc.record({ data: fc.array(line, { minLength: 1, maxLength: 4 }), id: fc.nat() });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 10 }), fc.constantFrom('\n', '\r', '\r\n'), (events, end) => {
        const text = events
          .map(({ data, id }) => [`id: ${id}`, ...data.map((each) => `data: ${each}`), '', ''].join(end))
          .join('');
        const read = parseText(text);
        expect(read).toEqual(
          events.map(({ data, id }) => ({ data: data.join('\n'), id: String(id), event: undefined })),
        );
      }),
    );
  });
});

describe('formatSseEvent', () => {
  it('writes id, event and one data line per line of text', () => {
    expect(formatSseEvent({ data: 'a' })).toBe('data: a\n\n');
    expect(formatSseEvent({ id: '7', event: 'x', data: 'a\nb' })).toBe(
      'id: 7\nevent: x\ndata: a\ndata: b\n\n',
    );
  });
});

describe('parseSseFrame', () => {
  it('reads the fields of one event', () => {
    const event = { id: '7', event: 'x', data: 'a\n b' };
    expect(parseSseFrame(formatSseEvent(event))).toEqual(event);
    expect(parseSseFrame(': heartbeat')).toEqual({ id: undefined, event: undefined, data: '' });
  });
});
