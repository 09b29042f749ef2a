/** Which piece of a long text is shown. */
export interface TextWindow {
  readonly start: number;
  readonly end: number;
}

/** How much of a text is shown before somebody asks for more. */
const pageSize = 8_000;
/** How far a window may begin after its place, to begin with a line. */
const maxToLine = 400;

/** The piece that a text is first seen by. */
export const initialWindow: TextWindow = { start: 0, end: pageSize };

/** The newest piece of a text that grows. */
export function tailWindow(text: string): TextWindow {
  const start = lineStart(text, text.length - pageSize);
  return start === 0 ? initialWindow : { start, end: text.length };
}

/** Four times as much, with what stands before it. */
export function extendBackward(text: string, { start, end }: TextWindow): TextWindow {
  return { start: lineStart(text, start - 3 * (end - start)), end };
}

/** Four times as much, with what stands behind it. */
export function extendForward({ start, end }: TextWindow): TextWindow {
  return { start, end: start + 4 * (end - start) };
}

/** A place where a line begins, or at least a character. */
function lineStart(text: string, at: number): number {
  if (at <= 0) return 0;
  const line = text.indexOf('\n', at - 1) + 1;
  if (line > 0 && line <= at + maxToLine) return line;
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at;
}
