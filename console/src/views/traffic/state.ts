import { batch, computed, effect, signal } from '@preact/signals';
import type { TrafficEvent } from '../../../../src/console/console-api.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { requestJson } from '../../session/api-client.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { currentRoute } from '../../session/router.ts';
import { findCounterpart } from './find-counterpart.ts';
import type { TrafficFilter } from './filter.ts';
import { TrafficTimeline } from './model/traffic-timeline.ts';

const live = new TrafficTimeline();

/** A file that is looked at instead of what passes now. */
export const openedFile = signal<{ readonly name: string; readonly timeline: TrafficTimeline } | undefined>(
  undefined,
);

/** What is looked at. */
export const timeline = computed(() => openedFile.value?.timeline ?? live);

/** Rises when the timeline has changed, at most once in a frame. */
export const timelineVersion = signal(0);

/** How many passages the server forgot before they could be read. */
export const missedRecords = signal(0);

/** Whether what comes is kept back. */
export const isPaused = signal(false);

/** How many passages are kept back. */
export const heldBackCount = signal(0);

/** Whether the newest row stays in sight. */
export const isFollowing = signal(true);

/** What the person asks to see; the task and the trip are in the address. */
export const filterInput = signal<Omit<TrafficFilter, 'task' | 'trip'>>({ isWithoutCards: true });

/** All that decides what is seen. */
export const trafficFilter = computed<TrafficFilter>(() => {
  const { view, details } = currentRoute.value;
  if (view !== 'wire') return filterInput.value;
  return { ...filterInput.value, task: details.get('task') ?? '', trip: details.get('trip') ?? '' };
});

/** How many passages are left out because they are cards and the like. */
export const hiddenCount = computed(() => {
  void timelineVersion.value;
  return trafficFilter.value.isWithoutCards && !trafficFilter.value.trip ? timeline.value.housekeeping : 0;
});

/** The sequence number of the row that is selected. */
export const selectedSequence = signal<number | undefined>(undefined);

/** Whether the selected row is shown in full. */
export const isOpen = signal(false);

/** The trip under the pointer. */
export const hoveredExchange = signal<string | undefined>(undefined);

/** The selected passage. */
export const selectedRecord = computed<TrafficRecord | undefined>(() => {
  void timelineVersion.value;
  return selectedSequence.value === undefined ? undefined : timeline.value.find(selectedSequence.value);
});

/** The same on the other side of whoever translates. */
export const counterpartRecord = computed<TrafficRecord | undefined>(() =>
  selectedRecord.value ? findCounterpart(selectedRecord.value, timeline.value) : undefined,
);

/** What has come since the last frame, or since the person paused. */
let pending: TrafficRecord[] = [];
let isDue = false;
const maxPending = 20_000;

function take(arrived: TrafficRecord): void {
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
    if (isPaused.value) heldBackCount.value = pending.length;
    else flush();
  });
}

function flush(): void {
  if (pending.length === 0) return;
  const arrived = pending;
  pending = [];
  live.add(arrived);
  batch(() => {
    heldBackCount.value = 0;
    timelineVersion.value++;
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
    selectedSequence.value = sequence;
    if (options.open) isOpen.value = true;
    if (sequence !== undefined && timeline.value.rowOf(sequence) !== timeline.value.shown.length - 1)
      isFollowing.value = false;
  });
}

/** Forgets everything that was seen, here and at the server. */
export async function clear(): Promise<void> {
  await requestJson('wire', { method: 'DELETE' });
  forget();
}

function forget(): void {
  live.clear();
  pending = [];
  batch(() => {
    selectedSequence.value = undefined;
    isOpen.value = false;
    missedRecords.value = 0;
    heldBackCount.value = 0;
    timelineVersion.value++;
  });
}

/** Looks at a file; `undefined` goes back to what passes now. */
export function showFile(
  file: { readonly name: string; readonly passages: readonly TrafficRecord[] } | undefined,
): void {
  batch(() => {
    selectedSequence.value = undefined;
    isOpen.value = false;
    if (file) {
      const kept = new TrafficTimeline({ maxPassages: file.passages.length });
      kept.add(file.passages);
      openedFile.value = { name: file.name, timeline: kept };
      isFollowing.value = false;
    } else {
      openedFile.value = undefined;
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
export function startTraffic(): () => void {
  const stopFiltering = effect(() => {
    timeline.value.filter(trafficFilter.value);
    timelineVersion.value = timelineVersion.peek() + 1;
  });
  const stopReading = startReconnectingStream<TrafficEvent>({
    path: () => (tape === undefined ? 'wire' : `wire?after=${last}&tape=${tape}`),
    take: (event) => {
      if (event.kind === 'tape') beginTape(event.id);
      else if (event.kind === 'gap') missedRecords.value += event.missed;
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
