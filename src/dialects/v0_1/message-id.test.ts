import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isDerivedMessageId, deriveMessageId, uuidV5 } from './message-id.ts';

/** UUID version 5 computed with node:crypto. */
function standard(text: string): string {
  const bytes = createHash('sha1').update(text).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

it('uuidV5 returns standard UUIDs for texts of any length', () => {
  for (const length of [0, 1, 55, 56, 63, 64, 65, 119, 120, 128, 2047, 2048, 2049, 10_000]) {
    const text = 'x'.repeat(length);
    expect(uuidV5(text)).toBe(standard(text));
  }
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      expect(uuidV5(text)).toBe(standard(text));
    }),
  );
});

it('isDerivedMessageId recognizes ids only for the same content and task', () => {
  const words = { role: 'user' as const, parts: [{ text: 'hi' }] };
  const message = { ...words, messageId: deriveMessageId('t', words) };
  expect(isDerivedMessageId('t', message)).toBe(true);
  expect(isDerivedMessageId('u', message)).toBe(false);
  expect(isDerivedMessageId('t', { ...message, parts: [{ text: 'ho' }] })).toBe(false);
  expect(isDerivedMessageId('t', { ...message, messageId: deriveMessageId('t', words, 1) })).toBe(false);
});
