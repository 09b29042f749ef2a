import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { AutoScroll } from '../auto-scroll.ts';
import { rowAfterKey, scrollOffsetFor, computeWindow } from './virtual-window.ts';
import './virtual-list.css';

interface VirtualListProps<Item> {
  /** Accessible name of the list. */
  label: string;
  items: readonly Item[];
  /** Row height in pixels, equal for all rows. */
  rowHeight: number;
  /** Renders a row. Rows must not contain focusable elements: the list has the focus. */
  children: (item: Item, index: number) => ComponentChildren;
  keyOf: (item: Item, index: number) => string | number;
  /** Index of the selected row; -1 if none. */
  chosen?: number;
  onChoose?: (item: Item, index: number) => void;
  /** Scrolls to new rows until the user scrolls up. */
  isFollowing?: boolean;
}

/** A virtualized list: renders visible rows only. Arrow keys, Page, Home and End select a row. */
export function VirtualList<Item>({
  label,
  items,
  rowHeight,
  children,
  keyOf,
  chosen = -1,
  onChoose,
  isFollowing = false,
}: VirtualListProps<Item>) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const scrollTop = useSignal(0);
  const height = useSignal(600);
  const end = useRef(new AutoScroll());

  useEffect(() => {
    if (!box.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) height.value = entry.contentRect.height;
    });
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [height]);

  useLayoutEffect(() => {
    if (isFollowing && box.current) end.current.keep(box.current);
  }, [isFollowing, items.length]);

  useEffect(() => {
    if (chosen < 0 || !box.current) return;
    const { scrollTop, clientHeight } = box.current;
    box.current.scrollTop = scrollOffsetFor(chosen, rowHeight, scrollTop, clientHeight);
  }, [chosen, rowHeight]);

  const onScroll = () => {
    if (!box.current) return;
    scrollTop.value = box.current.scrollTop;
    end.current.see(box.current, rowHeight);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const perPage = Math.max(1, Math.floor(height.value / rowHeight) - 1);
    const next = rowAfterKey(event.key, chosen, items.length, perPage);
    const item = next === undefined ? undefined : items[next];
    if (next === undefined || item === undefined) return;
    event.preventDefault();
    onChoose?.(item, next);
  };

  const { first, end: after } = computeWindow(items.length, rowHeight, scrollTop.value, height.value);
  return (
    <div
      ref={box}
      class="virtual"
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={chosen >= first && chosen < after ? `${id}-${chosen}` : undefined}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div class="virtual-room" role="presentation" style={{ height: `${items.length * rowHeight}px` }}>
        {items.slice(first, after).map((item, at) => {
          const index = first + at;
          return (
            <div
              key={keyOf(item, index)}
              id={`${id}-${index}`}
              class="virtual-row"
              role="option"
              aria-selected={index === chosen}
              aria-setsize={items.length}
              aria-posinset={index + 1}
              style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
              onClick={() => onChoose?.(item, index)}
            >
              {children(item, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}
