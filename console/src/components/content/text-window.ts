/** The displayed window of a long text. */
export interface TextWindow {
  readonly start: number;
  readonly end: number;
}

/** Initial window size in characters. */
const pageSize = 8_000;
/** Maximum shift of the window start to reach the start of a line. */
const maxToLine = 400;

/** The first window of a text. */
export const initialWindow: TextWindow = { start: 0, end: pageSize };

/** The last window of a growing text. */
export function tailWindow(text: string): TextWindow {
  const start = lineStart(text, text.length - pageSize);
  return start === 0 ? initialWindow : { start, end: text.length };
}

/** Enlarges the window four times towards the start. */
export function extendBackward(text: string, { start, end }: TextWindow): TextWindow {
  return { start: lineStart(text, start - 3 * (end - start)), end };
}

/** Enlarges the window four times towards the end. */
export function extendForward({ start, end }: TextWindow): TextWindow {
  return { start, end: start + 4 * (end - start) };
}

/** The nearest start of a line, or of a character. */
function lineStart(text: string, at: number): number {
  if (at <= 0) return 0;
  const line = text.indexOf('\n', at - 1) + 1;
  if (line > 0 && line <= at + maxToLine) return line;
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
