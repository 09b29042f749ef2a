/** A segment of a text: prose or fenced code. */
export interface TextSegment {
  readonly kind: 'prose' | 'code';
  readonly text: string;
  /** Info string of the fence. */
  readonly language?: string;
}

const fence = /^(`{3,})([^\n`]*)$/;

/** An open fence. */
interface Opened {
  readonly ticks: string;
  readonly language: string;
}

/** Parses a fence line; undefined if it is none. */
function fenceIn(line: string): Opened | undefined {
  const [found, ticks = '', info = ''] = fence.exec(line.trimEnd()) ?? [];
  if (found === undefined) return undefined;
  return { ticks, language: /^[\w+#.-]{0,40}/.exec(info.trimStart())?.[0] ?? '' };
}

const closes = (found: Opened, open: Opened): boolean =>
  found.ticks.length >= open.ticks.length && found.language === '';

/** The opening line of the fence that is open at an offset; empty if none is. */
export function openFenceAt(text: string, at: number): string {
  let open: Opened | undefined;
  for (const [line] of text.slice(0, at).matchAll(/^```.*$/gm)) {
    const found = fenceIn(line);
    if (!open) open = found;
    else if (found && closes(found, open)) open = undefined;
  }
  return open ? open.ticks + open.language : '';
}

/** Splits a text at its code fences; an unclosed fence extends to the end. */
export function splitCodeFences(text: string): TextSegment[] {
  const pieces: TextSegment[] = [];
  let lines: string[] = [];
  let open: Opened | undefined;
  const end = (kind: TextSegment['kind']) => {
    const piece = kind === 'prose' ? lines.join('\n').replace(/^\n+/, '').trimEnd() : lines.join('\n');
    if (piece !== '') {
      pieces.push({ kind, text: piece, ...(open?.language ? { language: open.language } : {}) });
    }
    lines = [];
  };
  for (const line of text.split('\n')) {
    const found = fenceIn(line);
    if (!found) lines.push(line);
    else if (!open) {
      end('prose');
      open = found;
    } else if (closes(found, open)) {
      end('code');
      open = undefined;
    } else lines.push(line);
  }
  end(open ? 'code' : 'prose');
  return pieces;
}
