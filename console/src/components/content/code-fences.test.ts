import { describe, expect, it } from 'vitest';
import { openFenceAt, splitCodeFences } from './code-fences.ts';

describe('code fences', () => {
  it('separate code from prose', () => {
    expect(splitCodeFences('Try:\n\n```sh\nls -l\n```\nand see.')).toEqual([
      { kind: 'prose', text: 'Try:' },
      { kind: 'code', text: 'ls -l', language: 'sh' },
      { kind: 'prose', text: 'and see.' },
    ]);
  });

  it('extend to the end while unclosed', () => {
    expect(splitCodeFences('```js\nlet a')).toEqual([{ kind: 'code', text: 'let a', language: 'js' }]);
  });

  it('may contain shorter fences', () => {
    expect(splitCodeFences('````\n```\nx\n```\n````')).toEqual([{ kind: 'code', text: '```\nx\n```' }]);
  });

  it('keep all other text unchanged', () => {
    const text = '<b>no</b> [link](javascript:alert(1)) **not bold**';
    expect(splitCodeFences(text)).toEqual([{ kind: 'prose', text }]);
  });

  it('are found at any offset', () => {
    const text = 'a\n````js\nb\n```\nc\n````\nd';
    const openAt = (mark: string) => openFenceAt(text, text.indexOf(mark));
    expect(['a', 'b', 'c', 'd'].map(openAt)).toEqual(['', '````js', '````js', '']);
  });
});
