import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isMadeUp, messageIdOf, sha1, uuidOf } from './message-id.ts';

it('hashes as the standard says, whatever the length', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 2047, 2048, 2049, 10_000]) {
    const text = 'x'.repeat(length);
    expect(sha1(text)).toBe(createHash('sha1').update(text).digest('hex'));
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(sha1(text)).toBe(createHash('sha1').update(text).digest('hex'));
    }),
  );
});

it('makes UUIDs of version 5', () => {
  expect(uuidOf('x')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it('knows an id that it made, and only for the same words in the same task', () => {
  const words = { role: 'user' as const, parts: [{ text: 'hi' }] };
  const message = { ...words, messageId: messageIdOf('t', words) };
  expect(isMadeUp('t', message)).toBe(true);
  expect(isMadeUp('u', message)).toBe(false);
  expect(isMadeUp('t', { ...message, parts: [{ text: 'ho' }] })).toBe(false);
  expect(isMadeUp('t', { ...message, messageId: messageIdOf('t', words, 1) })).toBe(false);
});
