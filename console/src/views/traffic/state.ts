import { batch, computed, effect, signal } from '@preact/signals';
import type { WireEvent } from '../../../../src/console/console-api.ts';
import type { Passage } from '../../../../src/tap/traffic-record.ts';
import { call } from '../../session/api-client.ts';
import { keepFollowing } from '../../session/reconnecting-stream.ts';
import { place } from '../../session/router.ts';
import { counterpartOf } from './find-counterpart.ts';
import type { Filter } from './filter.ts';
import { Timeline } from './model/traffic-timeline.ts';

const live = new Timeline();

/** A file that is looked at instead of what passes now. */
export const opened = signal<{ readonly name: string; readonly timeline: Timeline } | undefined>(undefined);

/** What is looked at. */
export const timeline = computed(() => opened.value?.timeline ?? live);

/** Rises when the timeline has changed, at most once in a frame. */
export const tick = signal(0);

/** How many passages the server forgot before they could be read. */
export const missed = signal(0);

/** Whether what comes is kept back. */
export const isPaused = signal(false);

/** How many passages are kept back. */
export const waiting = signal(0);

/** Whether the newest row stays in sight. */
export const isFollowing = signal(true);

/** What the person asks to see; the task and the trip are in the address. */
export const wish = signal<Omit<Filter, 'task' | 'trip'>>({ isWithoutCards: true });

/** All that decides what is seen. */
export const filter = computed<Filter>(() => {
  const { view, details } = place.value;
  if (view !== 'wire') return wish.value;
  return { ...wish.value, task: details.get('task') ?? '', trip: details.get('trip') ?? '' };
});

/** How many passages are left out because they are cards and the like. */
export const hidden = computed(() => {
  void tick.value;
  return filter.value.isWithoutCards && !filter.value.trip ? timeline.value.housekeeping : 0;
});

/** The sequence number of the row that is selected. */
export const selected = signal<number | undefined>(undefined);

/** Whether the selected row is shown in full. */
export const isOpen = signal(false);

/** The trip under the pointer. */
export const pointed = signal<string | undefined>(undefined);

/** The selected passage. */
export const passage = computed<Passage | undefined>(() => {
  void tick.value;
  return selected.value === undefined ? undefined : timeline.value.find(selected.value);
});

/** The same on the other side of whoever translates. */
export const other = computed<Passage | undefined>(() =>
  passage.value ? counterpartOf(passage.value, timeline.value) : undefined,
);

/** What has come since the last frame, or since the person paused. */
let pending: Passage[] = [];
let isDue = false;
const maxPending = 20_000;

function take(arrived: Passage): void {
  pending.push(arrived);
  if (pending.length > maxPending) {
    // A page that is not in front gets no frames, and a pause may be long.
    if (isPaused.value) pending = pending.slice(maxPending / 10);
    else flush();
  }
  schedule();
}

function schedule(): void {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    if (isPaused.value) waiting.value = pending.length;
    else flush();
  });
}

function flush(): void {
  if (pending.length === 0) return;
  const arrived = pending;
  pending = [];
  live.add(arrived);
  batch(() => {
    waiting.value = 0;
    tick.value++;
  });
}

/** Keeps back what comes, or shows it again. */
export function togglePause(): void {
  isPaused.value = !isPaused.value;
  if (!isPaused.value) flush();
}

/** Selects a row, and shows it in full if wanted. */
export function select(sequence: number | undefined, options: { open?: boolean } = {}): void {
  batch(() => {
    selected.value = sequence;
    if (options.open) isOpen.value = true;
    if (sequence !== undefined && timeline.value.rowOf(sequence) !== timeline.value.shown.length - 1)
      isFollowing.value = false;
  });
}

/** Forgets everything that was seen, here and at the server. */
export async function clear(): Promise<void> {
  await call('wire', { method: 'DELETE' });
  forget();
}

function forget(): void {
  live.clear();
  pending = [];
  batch(() => {
    selected.value = undefined;
    isOpen.value = false;
    missed.value = 0;
    waiting.value = 0;
    tick.value++;
  });
}

/** Looks at a file; `undefined` goes back to what passes now. */
export function look(
  file: { readonly name: string; readonly passages: readonly Passage[] } | undefined,
): void {
  batch(() => {
    selected.value = undefined;
    isOpen.value = false;
    if (file) {
      const kept = new Timeline({ maxPassages: file.passages.length });
      kept.add(file.passages);
      opened.value = { name: file.name, timeline: kept };
      isFollowing.value = false;
    } else {
      opened.value = undefined;
      isFollowing.value = true;
    }
  });
}

/** The newest passage that was read, shown or kept back, and the tape that it is on. */
let last = 0;
let tape: string | undefined;

/** A console that was started anew counts anew: what was seen before has no place in that. */
function beginTape(id: string): void {
  if (tape !== undefined && tape !== id) {
    last = 0;
    forget();
  }
  tape = id;
}

/** Reads what passes, from where it was left. @returns what ends it; the server keeps what comes until then. */
export function begin(): () => void {
  const stopFiltering = effect(() => {
    timeline.value.filter(filter.value);
    tick.value = tick.peek() + 1;
  });
  const stopReading = keepFollowing<WireEvent>({
    path: () => (tape === undefined ? 'wire' : `wire?after=${last}&tape=${tape}`),
    take: (event) => {
      if (event.kind === 'tape') beginTape(event.id);
      else if (event.kind === 'gap') missed.value += event.missed;
      else {
        last = event.passage.sequence;
        take(event.passage);
      }
    },
  });
  return () => {
    stopFiltering();
    stopReading();
  };
}
