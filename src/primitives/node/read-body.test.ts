import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readBody } from './read-body.ts';

const request = (): PassThrough & IncomingMessage => new PassThrough() as never;

describe('readBody', () => {
  it('returns the bytes of all chunks', async () => {
    const incoming = request();
    const reading = readBody(incoming, 4);
    incoming.write('ab');
    incoming.end('cd');
    expect((await reading).toString()).toBe('abcd');
  });

  it('rejects a body that is too large and discards the rest', async () => {
    const incoming = request();
    const reading = readBody(incoming, 3);
    incoming.write('abcd');
    await expect(reading).rejects.toBeInstanceOf(RangeError);
    incoming.end('e');
    await new Promise((resolve) => incoming.on('close', resolve));
    const other = request();
    const mapped = readBody(other, 0, () => new Error('413'));
    other.end('a');
    await expect(mapped).rejects.toThrow('413');
  });

  it('rejects when the connection breaks', async () => {
    const incoming = request();
    const reading = readBody(incoming, 3);
    incoming.destroy(new Error('aborted'));
    await expect(reading).rejects.toThrow('aborted');
  });
});
