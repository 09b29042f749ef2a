import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../documents/diagnostic.ts';
import { readEnvFile } from './env-file.ts';

describe('readEnvFile', () => {
  it('reads plain, quoted and multi-line values', () => {
    const text = [
      '\uFEFF# a comment',
      '',
      'PLAIN=a b  # and a comment',
      'export EXPORTED = x',
      'HASH=a#b',
      'EMPTY=',
      'ONLY_A_COMMENT= # nothing',
      `SINGLE='a "b" \\n #c' # comment`,
      String.raw`DOUBLE="a \"b\" \\ \n\t'c' $HOME"`,
      'TWICE=1',
      'TWICE=2',
      'EQUALS=a=b=c',
      'KEY="-----BEGIN-----',
      'abc',
      '-----END-----" # done',
      'AFTER=yes',
      'dotted.name-1=ok',
    ].join('\r\n');
    expect(readEnvFile(text, '.env')).toEqual({
      PLAIN: 'a b',
      EXPORTED: 'x',
      HASH: 'a#b',
      EMPTY: '',
      ONLY_A_COMMENT: '',
      SINGLE: 'a "b" \\n #c',
      DOUBLE: 'a "b" \\ \n\t\'c\' $HOME',
      TWICE: '2',
      EQUALS: 'a=b=c',
      KEY: '-----BEGIN-----\nabc\n-----END-----',
      AFTER: 'yes',
      'dotted.name-1': 'ok',
    });
  });

  it('accepts an empty file', () => {
    expect(readEnvFile('', '.env')).toEqual({});
  });

  it('treats __proto__ and constructor as ordinary names', () => {
    expect(Object.keys(readEnvFile('__proto__=x\nconstructor=y', '.env'))).toEqual([
      '__proto__',
      'constructor',
    ]);
  });

  it('reports every invalid line', () => {
    const read = () => readEnvFile('GOOD=1\nno assignment\n1X=2\nA="x" y\nB=\'open\nC=3', '.env');
    expect(read).toThrow(DocumentError);
    expect(read).toThrow(
      [
        '.env:2:1: must be NAME=value or a comment that starts with #',
        '.env:3:1: must be NAME=value or a comment that starts with #',
        '.env:4:1: A: has text after its closing quote',
        ".env:5:3: B: has an unclosed '",
      ].join('\n'),
    );
  });
});
