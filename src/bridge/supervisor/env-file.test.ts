import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../documents/diagnostic.ts';
import { readEnvFile } from './env-file.ts';

describe('an environment file', () => {
  it('has names and values, with or without quotes', () => {
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

  it('may be empty', () => {
    expect(readEnvFile('', '.env')).toEqual({});
  });

  it('never gives names that every object has a meaning', () => {
    expect(Object.keys(readEnvFile('__proto__=x\nconstructor=y', '.env'))).toEqual([
      '__proto__',
      'constructor',
    ]);
  });

  it('is complained about line by line', () => {
    const read = () => readEnvFile('GOOD=1\nno assignment\n1X=2\nA="x" y\nB=\'open\nC=3', '.env');
    expect(read).toThrow(DocumentError);
    expect(read).toThrow(
      [
        '.env:2:1: must be NAME=value, or a comment that begins with #',
        '.env:3:1: must be NAME=value, or a comment that begins with #',
        '.env:4:1: A: has something after its closing quote',
        ".env:5:3: B: has a ' that is not closed",
      ].join('\n'),
    );
  });
});
