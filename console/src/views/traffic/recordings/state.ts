import { signal } from '@preact/signals';
import type { RecordingEntry } from '../../../../../src/console/console-api.ts';
import { newestResult } from '../../../../../src/primitives/newest-result.ts';
import type { TrafficRecord } from '../../../../../src/tap/traffic-record.ts';
import { type DisplayError, toDisplayError } from '../../../components/error-note.tsx';
import { requestJson } from '../../../session/api-client.ts';
import { showFile } from '../state.ts';

/** The recordings of the server, newest first. */
export const recordings = signal<readonly RecordingEntry[]>([]);

/** Error of the last action. */
export const recordingError = signal<DisplayError | undefined>(undefined);

const pathOf = (id: string): string => `recordings/${encodeURIComponent(id)}`;

const requestRecordings = newestResult(() => requestJson<RecordingEntry[]>('recordings'));

/** Runs an action and loads the list again. @returns false if it failed */
async function attempt(work: () => Promise<void>): Promise<boolean> {
  recordingError.value = undefined;
  try {
    await work();
    recordings.value = await requestRecordings();
    return true;
  } catch (error) {
    recordingError.value = toDisplayError(error);
    return false;
  }
}

export const loadRecordings = (): Promise<boolean> => attempt(async () => {});

/** Shows a recording instead of the live traffic. */
export function openRecording(id: string): Promise<boolean> {
  return attempt(async () => {
    const { records } = await requestJson<{ records: TrafficRecord[] }>(pathOf(id));
    showFile({ name: recordings.peek().find((each) => each.id === id)?.name ?? id, records });
  });
}

export const renameRecording = (id: string, name: string): Promise<boolean> =>
  attempt(() => requestJson(pathOf(id), { method: 'POST', body: { name } }));

export const deleteRecording = (id: string): Promise<boolean> =>
  attempt(() => requestJson(pathOf(id), { method: 'DELETE' }));

export const clearRecordings = (): Promise<boolean> =>
  attempt(() => requestJson('recordings', { method: 'DELETE' }));
