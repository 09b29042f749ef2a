import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageProperties } from './broker-connection.ts';
import { decodeProperties, encodeProperties } from './property-encoding.ts';

describe('property encoding', () => {
  it('keeps text and marks JSON values', () => {
    expect(
      encodeProperties({ replyTo: 'a/b', callDepth: 3, a2aUserConfig: { id: 'alice' }, none: undefined }),
    ).toEqual({
      replyTo: 'a/b',
      callDepth: '3',
      a2aUserConfig: '{"id":"alice"}',
      'dragoman-json': '["callDepth","a2aUserConfig"]',
    });
  });

  it('round-trips all values', () => {
    const names = fc.string({ minLength: 1 }).filter((name) => /^[ -~]+$/.test(name) && name !== '__proto__');
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fc.dictionary(names, values, { maxKeys: 5 }), (generated) => {
        const properties = JSON.parse(JSON.stringify(generated)) as MessageProperties;
        const encoded = encodeProperties(properties);
        expect(Object.values(encoded).join('')).not.toMatch(/\p{Control}/u);
        expect(decodeProperties(Object.entries(encoded))).toEqual(properties);
      }),
    );
  });

  it('decodes unmarked properties as text', () => {
    const entries: [string, string][] = [
      ['a2aUserConfig', '{"id":"alice"}'],
      ['callDepth', '3'],
    ];
    expect(decodeProperties(entries)).toEqual({ a2aUserConfig: '{"id":"alice"}', callDepth: '3' });
  });

  it.each(['nonsense', '{"a":1}', '[1]', '["a","a","missing"]'])(
    'ignores the invalid marker %s',
    (marker) => {
      const properties = decodeProperties([
        ['a', '{broken'],
        ['dragoman-json', marker],
      ]);
      expect(properties).toEqual({ a: '{broken' });
    },
  );

  it('ignores __proto__', () => {
    const properties = decodeProperties([
      ['__proto__', '{"isAdmin":true}'],
      ['dragoman-json', '["__proto__"]'],
    ]);
    expect(properties).toEqual({});
    expect('isAdmin' in properties).toBe(false);
  });

  it('rejects values that exceed the limit of MQTT', () => {
    expect(() => encodeProperties({ long: 'x'.repeat(65_536) })).toThrow(
      'properties.long must have at most 65535 bytes',
    );
  });
});
