/** A piece of a text: prose, or what stands between two fences. */
export interface TextSegment {
  readonly kind: 'prose' | 'code';
  readonly text: string;
  /** What the fence says after its ticks. */
  readonly language?: string;
}

const fence = /^(`{3,})[ \t]*([\w+#.-]{0,40})[^\n`]*$/;

/** A fence that was opened. */
interface Opened {
  readonly ticks: string;
  readonly language: string;
}

/** Reads the line of a fence; undefined where it is none. */
function fenceIn(line: string): Opened | undefined {
  const [found, ticks = '', language = ''] = fence.exec(line.trimEnd()) ?? [];
  return found === undefined ? undefined : { ticks, language };
}

const closes = (found: Opened, open: Opened): boolean =>
  found.ticks.length >= open.ticks.length && found.language === '';

/** The line that would open again the fence that is open at a place of a text; empty where none is. */
export function openFenceAt(text: string, at: number): string {
  let open: Opened | undefined;
  for (const [line] of text.slice(0, at).matchAll(/^```.*$/gm)) {
    const found = fenceIn(line);
    if (!open) open = found;
    else if (found && closes(found, open)) open = undefined;
  }
  return open ? open.ticks + open.language : '';
}

/** Takes a text apart at its fences of three backticks; a fence that is never closed reaches to the end. */
export function splitCodeFences(text: string): TextSegment[] {
  const pieces: TextSegment[] = [];
  let lines: string[] = [];
  let open: Opened | undefined;
  const end = (kind: TextSegment['kind']) => {
    const piece = kind === 'prose' ? lines.join('\n').replace(/^\n+|\s+$/g, '') : lines.join('\n');
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
