/** A piece of a text: prose, or what stands between two fences. */
export interface Piece {
  readonly kind: 'prose' | 'code';
  readonly text: string;
  /** What the fence says after its ticks. */
  readonly language?: string;
}

const fence = /^(`{3,})[ \t]*([\w+#.-]{0,40})[^\n`]*$/;

/** Takes a text apart at its fences of three backticks; a fence that is never closed reaches to the end. */
export function readFences(text: string): Piece[] {
  const pieces: Piece[] = [];
  let lines: string[] = [];
  let open: { ticks: string; language: string } | undefined;
  const end = (kind: Piece['kind']) => {
    const piece = kind === 'prose' ? lines.join('\n').replace(/^\n+|\s+$/g, '') : lines.join('\n');
    if (piece !== '') {
      pieces.push({ kind, text: piece, ...(open?.language ? { language: open.language } : {}) });
    }
    lines = [];
  };
  for (const line of text.split('\n')) {
    const found = fence.exec(line.trimEnd());
    if (!found) lines.push(line);
    else if (!open) {
      end('prose');
      open = { ticks: found[1] ?? '```', language: found[2] ?? '' };
    } else if ((found[1] ?? '').length >= open.ticks.length && found[2] === '') {
      end('code');
      open = undefined;
    } else lines.push(line);
  }
  end(open ? 'code' : 'prose');
  return pieces;
}
