import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MessageProperties } from './broker-connection.ts';
import { decodeProperties, encodeProperties } from './property-encoding.ts';

describe('properties as texts', () => {
  it('leave a text as it is and mark what is none', () => {
    expect(
      encodeProperties({ replyTo: 'a/b', callDepth: 3, a2aUserConfig: { id: 'alice' }, none: undefined }),
    ).toEqual({
      replyTo: 'a/b',
      callDepth: '3',
      a2aUserConfig: '{"id":"alice"}',
      'dragoman-json': '["callDepth","a2aUserConfig"]',
    });
  });

  it('are read as they were written', () => {
    const names = fc.string({ minLength: 1 }).filter((name) => /^[ -~]+$/.test(name) && name !== '__proto__');
    const values = fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 2 }));
    fc.assert(
      fc.property(fc.dictionary(names, values, { maxKeys: 5 }), (made) => {
        const properties = JSON.parse(JSON.stringify(made)) as MessageProperties;
        const texts = encodeProperties(properties);
        expect(Object.values(texts).join('')).not.toMatch(/\p{Control}/u);
        expect(decodeProperties(Object.entries(texts))).toEqual(properties);
      }),
    );
  });

  it('of a stranger are texts, whatever they look like', () => {
    const texts: [string, string][] = [
      ['a2aUserConfig', '{"id":"alice"}'],
      ['callDepth', '3'],
    ];
    expect(decodeProperties(texts)).toEqual({ a2aUserConfig: '{"id":"alice"}', callDepth: '3' });
  });

  it.each(['nonsense', '{"a":1}', '[1]', '["a","a","missing"]'])('survive the mark %s', (mark) => {
    const properties = decodeProperties([
      ['a', '{broken'],
      ['dragoman-json', mark],
    ]);
    expect(properties).toEqual({ a: '{broken' });
  });

  it('do not change what an object is', () => {
    const properties = decodeProperties([
      ['__proto__', '{"isAdmin":true}'],
      ['dragoman-json', '["__proto__"]'],
    ]);
    expect(properties).toEqual({});
    expect('isAdmin' in properties).toBe(false);
  });

  it('are refused when they are longer than MQTT can say', () => {
    expect(() => encodeProperties({ long: 'x'.repeat(65_536) })).toThrow(
      'properties.long is longer than 65535 bytes',
    );
  });
});
