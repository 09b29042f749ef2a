import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DocumentError } from './diagnostic.ts';
import { Document } from './document.ts';
import { interpolateVariables } from './interpolate.ts';
import { measureGrowth } from '../../test/support/growth.ts';

const schema = z.strictObject({
  name: z.string(),
  rules: z
    .array(
      z.union([
        z.strictObject({ kind: z.literal('text'), text: z.string() }),
        z.strictObject({ kind: z.literal('wait'), seconds: z.number() }),
      ]),
    )
    .optional(),
});

function diagnosticsOf(text: string): string[] {
  try {
    Document.parse(text, 'a.yaml').check(schema);
    return [];
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DocumentError);
    return (thrown as Error).message.split('\n');
  }
}

describe('Document', () => {
  it('returns the validated value', () => {
    const text = 'name: no\nrules:\n  - kind: wait\n    seconds: 3\n';
    expect(Document.parse(text, 'a.yaml').check(schema)).toEqual({
      name: 'no',
      rules: [{ kind: 'wait', seconds: 3 }],
    });
  });

  it.each([
    ['an unknown key', 'name: a\nrulez: []\n', 'a.yaml:2:1: rulez: unknown key'],
    ['a wrong type', 'name:\n  - a\n', 'a.yaml:1:1: name: expected string, received array'],
    ['a missing key', 'rules: []\n', 'a.yaml:1:1: name: is missing'],
    [
      'the intended union member',
      'name: a\nrules:\n  - kind: wait\n    seconds: soon\n',
      'a.yaml:4:5: rules[0].seconds: expected number, received string',
    ],
    [
      'a nested unknown key',
      'name: a\nrules:\n  - kind: text\n    text: b\n    txt: c\n',
      'a.yaml:5:5: rules[0].txt: unknown key',
    ],
    ['an empty file', '', 'a.yaml:1:1: The file is empty'],
  ])('reports %s with its location', (_name, text, diagnostic) => {
    expect(diagnosticsOf(text)).toEqual([diagnostic]);
  });

  it('reports errors in the order of the file', () => {
    const text =
      'rulez: []\nrules:\n  - { txt: c, kind: wait, seconds: soon }\n  - kind: text\n    text: 1\nname: 2\n';
    expect(diagnosticsOf(text)).toEqual([
      'a.yaml:1:1: rulez: unknown key',
      'a.yaml:3:7: rules[0].txt: unknown key',
      'a.yaml:3:27: rules[0].seconds: expected number, received string',
      'a.yaml:5:5: rules[1].text: expected string, received number',
      'a.yaml:6:1: name: expected string, received number',
    ]);
  });

  it('reports YAML syntax errors and duplicate keys', () => {
    expect(diagnosticsOf('name: "a\n')[0]).toMatch(/^a\.yaml:\d+:\d+: /);
    expect(diagnosticsOf('name: a\nname: b\n')[0]).toMatch(/^a\.yaml:2:1: /);
  });

  it('supports anchors and merge keys', () => {
    const text =
      'shared:\n  - &wait { kind: wait, seconds: 3 }\nname: a\nrules:\n  - <<: *wait\n    seconds: 4\n';
    expect(Document.parse(text, 'a.yaml').value).toMatchObject({ rules: [{ kind: 'wait', seconds: 4 }] });
  });

  it('rejects files with several documents', () => {
    expect(diagnosticsOf('name: a\n---\nname: b\n')).toEqual([
      expect.stringMatching(/^a\.yaml:2:1: The file has several documents$/),
    ]);
  });

  it('rejects exponential alias expansion', () => {
    const bomb = ['a: &a [x,x,x,x,x,x,x,x,x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef'])
      bomb.push(`${to}: &${to} [*${from},*${from},*${from},*${from},*${from},*${from},*${from},*${from}]`);
    expect(diagnosticsOf(bomb.join('\n'))[0]).toMatch(/^a\.yaml:1:1: /);
  });
});

describe('interpolateVariables', () => {
  it('replaces variables, applies defaults and reports missing ones', () => {
    const missing: string[] = [];
    const value = { url: 'http://${HOST, localhost}:${PORT}', list: ['${NONE}', '${QUOTED, "a b"}', 1] };
    const interpolated = interpolateVariables(value, { PORT: '80' }, (path, name) =>
      missing.push(`${path.join('.')} ${name}`),
    );
    expect(interpolated).toEqual({ url: 'http://localhost:80', list: ['', 'a b', 1] });
    expect(missing).toEqual(['list.0 NONE']);
  });
});

it('reads keys in linear time', async () => {
  const read = (size: number): void => {
    const text = Array.from({ length: size }, (_, i) => `key${i}: ${i}`).join('\n');
    const document = Document.parse(text, 'large.yaml');
    for (let i = 0; i < size; i += 10) document.locate([`key${i}`]);
    expect(document.locate([`key${size - 1}`])).toEqual({ line: size, column: 1 });
  };
  // Four times the keys take 16 times as long in quadratic time.
  expect(await measureGrowth(read, { small: 5_000, large: 20_000 })).toBeLessThan(10);
});

it('rejects repeated keys in nested maps with their location', () => {
  const parse = () => Document.parse('a:\n  - b: 1\n    c: 2\n    b: 3\n', 'keys.yaml');
  expect(parse).toThrow(DocumentError);
  try {
    parse();
  } catch (error) {
    expect((error as DocumentError).diagnostics).toMatchObject([
      { message: 'Map keys must be unique', line: 4 },
    ]);
  }
});
