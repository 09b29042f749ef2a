/** The rendered rows of a list: from `first` up to, but excluding, `end`. */
export interface VirtualWindow {
  readonly first: number;
  readonly end: number;
}

/** Computes the visible rows plus an overscan on both sides. */
export function computeWindow(
  count: number,
  rowHeight: number,
  scrollTop: number,
  height: number,
  beyond = 12,
): VirtualWindow {
  const top = Math.min(Math.max(0, scrollTop), Math.max(0, count * rowHeight - height));
  const first = Math.max(0, Math.floor(top / rowHeight) - beyond);
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + beyond);
  return { first, end };
}

/** Computes the smallest scroll offset that makes a row visible. */
export function scrollOffsetFor(row: number, rowHeight: number, scrollTop: number, height: number): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}

/** Maps a key to the row it selects; undefined for other keys. */
export function rowAfterKey(
  key: string,
  row: number,
  count: number,
  rowsPerPage: number,
): number | undefined {
  const steps: { readonly [key: string]: number } = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: rowsPerPage,
    PageUp: -rowsPerPage,
    Home: -count,
    End: count,
  };
  const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
  if (step === undefined || count === 0) return undefined;
  // Without a selection, all keys except End select the first row.
  if (row < 0) return step > 0 && key === 'End' ? count - 1 : 0;
  return Math.min(count - 1, Math.max(0, row + step));
}
