import { describe, expect, it } from 'vitest';
import { locateJson, parseFieldPath, positionAt } from './json-positions.ts';

describe('locateJson', () => {
  const text = '{\n  "a": {"b": [1, {"c": "x\\"}"}]},\n  "d": null\n}';

  it('finds members and items', () => {
    const located = locateJson(text);
    if ('message' in located) throw new Error(located.message);
    const lineOf = (...path: (string | number)[]) => positionAt(text, located.offsetOf(path) ?? -1);
    expect(located.value).toEqual({ a: { b: [1, { c: 'x"}' }] }, d: null });
    expect(lineOf('a', 'b', 1, 'c')).toMatchObject({ line: 2, column: 19 });
    expect(lineOf('d')).toMatchObject({ line: 3, column: 3 });
    expect(located.offsetOf(['a', 'x'])).toBeUndefined();
  });

  it.each([
    ['', 'Expected a value', 1, 1],
    ['{"a": 1,}', 'Expected a member name in double quotes', 1, 9],
    ['{"a" 1}', 'Expected ":" after the member name', 1, 6],
    ['[1\n 2]', 'Expected "," or "]"', 2, 2],
    ['{"a": tru}', 'Expected a value', 1, 7],
    ['{} x', 'Text after the end of the JSON', 1, 4],
    ['"a\nb"', 'Expected a value', 1, 1],
    ['[01]', 'Expected "," or "]"', 1, 3],
  ])('reports the place of a syntax error: %j', (wrong, message, line, column) => {
    const located = locateJson(wrong);
    expect(located).toMatchObject({ message });
    if ('message' in located) expect(positionAt(wrong, located.offset)).toMatchObject({ line, column });
    expect(() => JSON.parse(wrong)).toThrow();
  });

  it('rejects deep nesting without a stack overflow', () => {
    expect(locateJson('['.repeat(100_000))).toMatchObject({ message: 'The JSON is nested too deeply' });
  });

  it('parses field paths of errors', () => {
    expect(parseFieldPath('message.parts[0].text')).toEqual(['message', 'parts', 0, 'text']);
    expect(parseFieldPath('')).toEqual([]);
  });
});
