import { batch, computed, effect, signal } from '@preact/signals';
import type { TrafficEvent } from '../../../../src/console/console-api.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { requestJson } from '../../session/api-client.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { currentRoute } from '../../session/router.ts';
import type { TranslationLoss } from '../../../../src/dialects/translation-loss.ts';
import { findCounterpart, lossesBetween } from './find-counterpart.ts';
import type { TrafficFilter } from './filter.ts';
import { TrafficTimeline } from './model/traffic-timeline.ts';

const live = new TrafficTimeline();

/** An opened traffic file. */
export const openedFile = signal<{ readonly name: string; readonly timeline: TrafficTimeline } | undefined>(
  undefined,
);

/** The displayed timeline. */
export const timeline = computed(() => openedFile.value?.timeline ?? live);

/** Incremented when the timeline changes, at most once per frame. */
export const timelineVersion = signal(0);

/** Number of records that the server evicted before the page could read them. */
export const missedRecords = signal(0);

/** True while paused. */
export const isPaused = signal(false);

/** Number of records held back while paused. */
export const heldBackCount = signal(0);

/** True while following the newest row. */
export const isFollowing = signal(true);

/** Filters of the toolbar; task and exchange are in the page URL. */
export const filterInput = signal<Omit<TrafficFilter, 'task' | 'exchange'>>({
  isWithoutCards: true,
  isWithoutTests: true,
});

/** The effective filter. */
export const trafficFilter = computed<TrafficFilter>(() => {
  const { view, details } = currentRoute.value;
  if (view !== 'traffic') return filterInput.value;
  return { ...filterInput.value, task: details.get('task') ?? '', exchange: details.get('exchange') ?? '' };
});

/** Number of hidden card requests and health checks. */
export const hiddenCount = computed(() => {
  void timelineVersion.value;
  return trafficFilter.value.isWithoutCards && !trafficFilter.value.exchange
    ? timeline.value.housekeeping
    : 0;
});

/** Sequence number of the selected row. */
export const selectedSequence = signal<number | undefined>(undefined);

/** True if the selected record is open. */
export const isOpen = signal(false);

/** The hovered exchange. */
export const hoveredExchange = signal<string | undefined>(undefined);

/** The selected record. */
export const selectedRecord = computed<TrafficRecord | undefined>(() => {
  void timelineVersion.value;
  return selectedSequence.value === undefined ? undefined : timeline.value.find(selectedSequence.value);
});

/** The request of the selected record: its own, that of its exchange, or a message of a mesh. */
export const selectedRequest = computed<TrafficRecord | undefined>(() => {
  const shown = selectedRecord.value;
  if (!shown || shown.kind === 'loss') return undefined;
  return timeline.value.records(
    ({ exchangeId, kind, decoded, mesh }) =>
      exchangeId === shown.exchangeId &&
      (kind === 'request' || (mesh !== undefined && isRequestModel(decoded?.model))),
  )[0];
});

/** True for requests to send a message, which a mesh also carries. */
function isRequestModel(model: unknown): boolean {
  return typeof model === 'object' && model !== null && 'message' in model && !('kind' in model);
}

/** The counterpart of the selected record on the other side of a gateway. */
export const counterpartRecord = computed<TrafficRecord | undefined>(() =>
  selectedRecord.value ? findCounterpart(selectedRecord.value, timeline.value) : undefined,
);

/** What the translation between the selected record and its counterpart could not represent. */
export const translationLosses = computed<readonly TranslationLoss[]>(() => {
  const [one, other] = [selectedRecord.value, counterpartRecord.value];
  return one && other ? lossesBetween(one, other, timeline.value) : [];
});

/** Records received since the last frame, or since the pause. */
let pending: TrafficRecord[] = [];
let isDue = false;
const maxPending = 20_000;

function take(arrived: TrafficRecord): void {
  pending.push(arrived);
  if (pending.length > maxPending) {
    // Hidden pages get no frames, and a pause may be long: the buffer is bounded.
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

/** Pauses or resumes the timeline. */
export function togglePause(): void {
  isPaused.value = !isPaused.value;
  if (!isPaused.value) flush();
}

/** Selects a row, and optionally opens it. */
export function select(sequence: number | undefined, options: { open?: boolean } = {}): void {
  batch(() => {
    selectedSequence.value = sequence;
    if (options.open) isOpen.value = true;
    if (sequence !== undefined && timeline.value.rowOf(sequence) !== timeline.value.shown.length - 1)
      isFollowing.value = false;
  });
}

/** Clears the timeline and the traffic log of the server. */
export async function clear(): Promise<void> {
  await requestJson('traffic', { method: 'DELETE' });
  clearTimeline();
}

function clearTimeline(): void {
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

/** Opens a file; `undefined` returns to the live traffic. */
export function showFile(
  file: { readonly name: string; readonly records: readonly TrafficRecord[] } | undefined,
): void {
  batch(() => {
    selectedSequence.value = undefined;
    isOpen.value = false;
    if (file) {
      const fileTimeline = new TrafficTimeline({ maxRecords: file.records.length });
      fileTimeline.add(file.records);
      openedFile.value = { name: file.name, timeline: fileTimeline };
      isFollowing.value = false;
    } else {
      openedFile.value = undefined;
      isFollowing.value = true;
    }
  });
}

/** The newest received sequence number, and the traffic log it belongs to. */
let lastSequence = 0;
let logId: string | undefined;

/** A restarted server has a new traffic log: earlier records are discarded. */
function startLog(id: string): void {
  if (logId !== undefined && logId !== id) {
    lastSequence = 0;
    clearTimeline();
  }
  logId = id;
}

/** Subscribes to traffic from the last position. @returns a function that unsubscribes */
export function startTraffic(): () => void {
  const stopFiltering = effect(() => {
    timeline.value.filter(trafficFilter.value);
    timelineVersion.value = timelineVersion.peek() + 1;
  });
  const stopReading = startReconnectingStream<TrafficEvent>({
    path: () => (logId === undefined ? 'traffic' : `traffic?after=${lastSequence}&log=${logId}`),
    take: (event) => {
      if (event.kind === 'log') startLog(event.id);
      else if (event.kind === 'gap') missedRecords.value += event.missed;
      else {
        lastSequence = event.record.sequence;
        take(event.record);
      }
    },
  });
  return () => {
    stopFiltering();
    stopReading();
  };
}
