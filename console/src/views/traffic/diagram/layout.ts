/** Rows of a list that are worth drawing: from `first` up to, but not with, `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/** How wide a column is: all of the room is used, and what does not fit scrolls. */
export function columnWidth(room: number, columns: number, least: number): number {
  return Math.max(least, Math.floor(room / Math.max(1, columns)));
}

/** Where the line of a column is. */
export function columnX(column: number, width: number): number {
  return Math.round((column + 0.5) * width);
}

/** The columns that can be seen. */
export function visibleColumns(left: number, room: number, width: number, columns: number): RowRange {
  return {
    first: Math.max(0, Math.floor(left / width) - 1),
    end: Math.min(columns, Math.ceil((left + room) / width) + 1),
  };
}

/** An arrow between two lines. */
export interface Arrow {
  readonly left: number;
  readonly width: number;
  readonly direction: 'right' | 'left' | 'self';
}

/** The arrow from one line to another; what a party says to itself is a short one. */
export function layoutArrow(from: number, to: number, own = 28): Arrow {
  if (from === to) return { left: from, width: own, direction: 'self' };
  return {
    left: Math.min(from, to),
    width: Math.abs(to - from),
    direction: from < to ? 'right' : 'left',
  };
}
