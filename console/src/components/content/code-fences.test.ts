import { describe, expect, it } from 'vitest';
import { openFenceAt, splitCodeFences } from './code-fences.ts';

describe('fences in a text', () => {
  it('take code out of prose', () => {
    expect(splitCodeFences('Try:\n\n```sh\nls -l\n```\nand see.')).toEqual([
      { kind: 'prose', text: 'Try:' },
      { kind: 'code', text: 'ls -l', language: 'sh' },
      { kind: 'prose', text: 'and see.' },
    ]);
  });

  it('reach to the end when they are not closed, as while text streams', () => {
    expect(splitCodeFences('```js\nlet a')).toEqual([{ kind: 'code', text: 'let a', language: 'js' }]);
  });

  it('may hold shorter fences', () => {
    expect(splitCodeFences('````\n```\nx\n```\n````')).toEqual([{ kind: 'code', text: '```\nx\n```' }]);
  });

  it('leave everything else as it was written', () => {
    const text = '<b>no</b> [link](javascript:alert(1)) **not bold**';
    expect(splitCodeFences(text)).toEqual([{ kind: 'prose', text }]);
  });

  it('are known at any place, so that a text can be shown from there', () => {
    const text = 'a\n````js\nb\n```\nc\n````\nd';
    const openAt = (mark: string) => openFenceAt(text, text.indexOf(mark));
    expect(['a', 'b', 'c', 'd'].map(openAt)).toEqual(['', '````js', '````js', '']);
  });
});
