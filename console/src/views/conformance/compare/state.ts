import { batch, computed, signal } from '@preact/signals';
import type { ReportChange } from '../../../../../src/conformance/report/compare-reports.ts';
import type { ReportEntry } from '../../../../../src/console/console-api.ts';
import { type DisplayError, toDisplayError } from '../../../components/error-note.tsx';
import { requestJson } from '../../../session/api-client.ts';
import { resultKey } from '../results.ts';

/** Reports that the server keeps, newest first. */
export const keptReports = signal<readonly ReportEntry[]>([]);

/** ID of the report to which the displayed one is compared; empty for none. */
export const comparedId = signal('');

/** Differences between the two reports. */
export const changes = signal<readonly ReportChange[]>([]);

/** Why the reports could not be compared. */
export const compareError = signal<DisplayError | undefined>(undefined);

/** Differences by the result that they are about. */
export const changesByResult = computed(
  () => new Map(changes.value.map((each) => [resultKey(each), each] as const)),
);

let displayedId = '';

/** Compares a report with the one before of the same agent, or again with the selected one. */
export async function chooseComparison(id: string): Promise<void> {
  const isNew = displayedId !== id;
  displayedId = id;
  keptReports.value = await requestJson<ReportEntry[]>('conformance/reports');
  const entries = keptReports.value;
  const agentId = entries.find((each) => each.id === id)?.agentId;
  const before = entries.find(
    (each) => each.id !== id && each.agentId !== undefined && each.agentId === agentId,
  );
  await compareWith(isNew ? (before?.id ?? '') : comparedId.peek());
}

/** Compares the displayed report with another one. @param id - empty for none */
export async function compareWith(id: string): Promise<void> {
  try {
    const found =
      id === ''
        ? []
        : await requestJson<ReportChange[]>(
            `conformance/reports/${displayedId}/changes?since=${encodeURIComponent(id)}`,
          );
    batch(() => {
      comparedId.value = id;
      changes.value = found;
      compareError.value = undefined;
    });
  } catch (error) {
    compareError.value = toDisplayError(error);
  }
}

/** Uploads a JSON report and compares with it. */
export async function compareWithFile(file: File): Promise<void> {
  try {
    const entry = await requestJson<ReportEntry>('conformance/reports', {
      method: 'POST',
      text: await file.text(),
    });
    keptReports.value = [entry, ...keptReports.value];
    await compareWith(entry.id);
  } catch (error) {
    compareError.value = toDisplayError(error);
  }
}
