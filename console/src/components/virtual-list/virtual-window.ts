/** Which rows of a long list are made: from `first` to before `end`. */
export interface VirtualWindow {
  readonly first: number;
  readonly end: number;
}

/** Says which rows are seen, with some beyond on either side so that scrolling shows no holes. */
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

/** Says how far to scroll so that a row is seen, as little as possible. */
export function scrollOffsetFor(row: number, rowHeight: number, scrollTop: number, height: number): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + height) return top + rowHeight - height;
  return scrollTop;
}

/** Says which row a key leads to; undefined for keys that mean something else. */
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
  // Nothing is chosen yet: any key but those that lead to the end begins at the top.
  if (row < 0) return step > 0 && key === 'End' ? count - 1 : 0;
  return Math.min(count - 1, Math.max(0, row + step));
}
