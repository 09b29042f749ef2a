import { characterRun } from './character-run.ts';

const minSegment = 8;
const mark = 'eyJ';
const run = characterRun(/[\w.-]/);
const tokenStart = /\beyJ[\w-]{8}/;

/**
 * Replaces JSON Web Tokens in a text: three segments of at least eight characters, of which the first starts with the
 * base64 of `{"`. Splits the text at its dots instead of using one expression, which would take quadratic time.
 */
export function replaceJsonWebTokens(text: string, replacement: string): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, from)) {
    const start = run.startOf(text, at, from);
    const end = run.endOf(text, at);
    kept += text.slice(from, start) + replaceInRun(text.slice(start, end), replacement);
    from = end;
  }
  return kept + text.slice(from);
}

/** @param tokens - a text of segments and dots. */
function replaceInRun(tokens: string, replacement: string): string {
  const segments = tokens.split('.');
  const kept: string[] = [];
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] ?? '';
    const [second = '', third = ''] = segments.slice(i + 1, i + 3);
    const isLongEnough = second.length >= minSegment && third.length >= minSegment;
    const at = isLongEnough ? segment.search(tokenStart) : -1;
    if (at < 0) kept.push(segment);
    else {
      kept.push(segment.slice(0, at) + replacement);
      i += 2;
    }
  }
  return kept.join('.');
}
