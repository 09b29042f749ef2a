import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import {
  rowAfterKey,
  scrollOffsetFor,
  computeWindow,
} from '../../../components/virtual-list/virtual-window.ts';
import { visibleColumns, columnWidth, columnX } from './layout.ts';
import { DiagramRow } from './row.tsx';
import {
  isFollowing,
  isOpen,
  counterpartRecord,
  selectedRecord,
  hoveredExchange,
  select,
  selectedSequence,
  timelineVersion,
  timeline,
  togglePause,
} from '../state.ts';
import './sequence-diagram.css';

/** Row height in pixels; must equal the value in `sequence-diagram.css`. */
const timeWidth = 104;
const marksWidth = 196;
const headHeight = 34;
const leastColumn = 150;
/** Below this width, rows are rendered as text. */
const leastDiagram = 560;
const hues = 6;
/** Overscan rows above and below the visible ones. */
const beyond = 6;

/** The sequence diagram: one column per participant, one row per record. Renders visible rows only. */
export function SequenceDiagram() {
  const frame = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 900, height: 500 });
  const scroll = useSignal({ left: 0, top: 0 });
  const evictedCount = useRef(0);
  void timelineVersion.value;
  const currentTimeline = timeline.value;
  const { shown, participants, correlation } = currentTimeline;
  const isDrawn = size.value.width >= leastDiagram;
  const height = isDrawn ? 38 : 58;
  const count = shown.length;

  useEffect(() => {
    const box = frame.current;
    if (!box) return;
    const observer = new ResizeObserver(() => {
      size.value = { width: box.clientWidth, height: box.clientHeight };
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [size]);

  useLayoutEffect(() => {
    const box = frame.current;
    if (!box) return;
    const gone = currentTimeline.evictedCount - evictedCount.current;
    evictedCount.current = currentTimeline.evictedCount;
    if (isFollowing.value) box.scrollTop = box.scrollHeight;
    // Keeps the visible rows in place while older rows are evicted above them.
    else if (gone > 0) box.scrollTop -= gone * height;
  });

  // Scrolls to a row when it is selected, not on every new record.
  useLayoutEffect(() => {
    const box = frame.current;
    const row = selectedSequence.value === undefined ? -1 : currentTimeline.rowOf(selectedSequence.value);
    if (!box || row < 0) return;
    const room = box.clientHeight - headHeight;
    box.scrollTop = scrollOffsetFor(row, height, box.scrollTop, room);
  }, [selectedSequence.value, isOpen.value, height, size.value.height, currentTimeline]);

  const onScroll = () => {
    const box = frame.current;
    if (!box) return;
    const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 4;
    if (isAtEnd) isFollowing.value = true;
    // Only scrolling up ends following; the list itself only scrolls down.
    else if (box.scrollTop < scroll.value.top - 1) isFollowing.value = false;
    scroll.value = { left: box.scrollLeft, top: box.scrollTop };
  };

  const column = columnWidth(
    size.value.width - timeWidth - marksWidth,
    participants.names.length,
    leastColumn,
  );
  const width = isDrawn ? timeWidth + marksWidth + column * participants.names.length : size.value.width;
  // The scroll position follows after this frame: its rows would be drawn and replaced at once.
  const lastTop = Math.max(0, headHeight + count * height - size.value.height);
  const top = isFollowing.value ? lastTop : scroll.value.top;
  // Rows beyond the visible ones are for scrolling; while the view follows, they would be drawn in vain with each frame.
  const overscan = isFollowing.value ? 1 : beyond;
  const { first, end } = computeWindow(count, height, top, size.value.height, overscan);
  const columns = visibleColumns(scroll.value.left, size.value.width, column, participants.names.length);
  // Rows that leave the view reuse their elements for rows that enter it: creating elements is the main cost.
  const slots = end - first + 1;
  const chosen = selectedRecord.value?.exchangeId;

  return (
    <div class="traffic-diagram" ref={frame} onScroll={onScroll}>
      {isDrawn ? (
        <div class="traffic-head" style={{ width: `${width}px` }}>
          <span class="traffic-corner">time</span>
          {participants.names.slice(columns.first, columns.end).map((name, at) => (
            <span
              key={name}
              class="traffic-participant"
              title={name}
              style={{ left: `${timeWidth + (columns.first + at) * column}px`, width: `${column}px` }}
            >
              <span>{name}</span>
            </span>
          ))}
        </div>
      ) : null}
      <div
        class="traffic-body"
        style={{ width: `${width}px`, height: `${count * height}px`, '--column': `${column}px` }}
      >
        <div
          class="traffic-rows"
          role="listbox"
          tabIndex={0}
          aria-label="Timeline"
          aria-activedescendant={
            selectedSequence.value === undefined ? undefined : `passage-${selectedSequence.value}`
          }
          onKeyDown={(event) => onKey(event, Math.max(1, Math.floor(size.value.height / height) - 2))}
          onClick={(event) => {
            const sequence = rowUnder(event)?.dataset.sequence;
            if (sequence !== undefined) select(Number(sequence), { open: true });
          }}
          onMouseOver={(event) => (hoveredExchange.value = rowUnder(event)?.dataset.exchange)}
          onMouseLeave={() => (hoveredExchange.value = undefined)}
        >
          {shown.slice(first, end).map((each, at) => (
            <DiagramRow
              key={(currentTimeline.evictedCount + first + at) % slots}
              record={each}
              index={first + at}
              count={count}
              height={height}
              lines={
                isDrawn
                  ? {
                      from: columnX(participants.columnOf(each.from), column),
                      to: columnX(participants.columnOf(each.to), column),
                    }
                  : undefined
              }
              hue={correlation.hueOf(each.exchangeId, hues)}
              isSelected={each.sequence === selectedSequence.value}
              isRelated={each.exchangeId === chosen || each.exchangeId === hoveredExchange.value}
              isOther={each === counterpartRecord.value}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

function rowUnder({ target }: Event): HTMLElement | undefined {
  const row = target instanceof Element ? target.closest('.traffic-row') : null;
  return row instanceof HTMLElement ? row : undefined;
}

function onKey(event: KeyboardEvent, rowsPerPage: number): void {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { shown } = timeline.value;
  const row = selectedSequence.value === undefined ? -1 : timeline.value.rowOf(selectedSequence.value);
  const next = rowAfterKey(event.key, row, shown.length, rowsPerPage);
  if (next !== undefined) select(shown.at(next)?.sequence);
  else if (event.key === 'Enter') isOpen.value = selectedSequence.value !== undefined;
  else if (event.key === 'Escape') isOpen.value = false;
  else if (event.key === ' ') togglePause();
  else return;
  event.preventDefault();
}
