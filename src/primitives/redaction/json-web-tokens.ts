const minSegment = 8;
const tokenStart = /\beyJ[\w-]{8}/;

/**
 * Replaces JSON Web Tokens in a text: three segments of at least eight characters, of which the first starts with the
 * base64 of `{"`. Splits the text at its dots instead of using one expression, which would take quadratic time.
 */
export function replaceJsonWebTokens(text: string, replacement: string): string {
  // Fast path: most texts contain no token.
  if (!text.includes('eyJ')) return text;
  return text.replaceAll(/[\w.-]+/g, (run) => replaceInRun(run, replacement));
}

function replaceInRun(run: string, replacement: string): string {
  if (!run.includes('eyJ')) return run;
  const segments = run.split('.');
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
