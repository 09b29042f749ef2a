/** The rendered items of a list: from `first` up to, but excluding, `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** Computes the column width: fills the available width, with a minimum. */
export function columnWidth(room: number, columns: number, least: number): number {
  return Math.max(least, Math.floor(room / Math.max(1, columns)));
}

/** The x position of the lifeline of a column. */
export function columnX(column: number, width: number): number {
  return Math.round((column + 0.5) * width);
}

/** The visible columns. */
export function visibleColumns(left: number, room: number, width: number, columns: number): RowRange {
  return {
    first: Math.max(0, Math.floor(left / width) - 1),
    end: Math.min(columns, Math.ceil((left + room) / width) + 1),
  };
}

/** An arrow between two lifelines. */
export interface Arrow {
  readonly left: number;
  readonly width: number;
  readonly direction: 'right' | 'left' | 'self';
}

/** Computes the arrow between two lifelines; a message to itself is a short one. */
export function layoutArrow(from: number, to: number, own = 28): Arrow {
  if (from === to) return { left: from, width: own, direction: 'self' };
  return {
    left: Math.min(from, to),
    width: Math.abs(to - from),
    direction: from < to ? 'right' : 'left',
  };
}
