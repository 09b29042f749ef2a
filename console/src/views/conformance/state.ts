import { batch, computed, signal } from '@preact/signals';
import type { ConformanceEvent, ConformanceWish } from '../../../../src/console/console-api.ts';
import type { ConformanceReport, ConformanceResult } from '../../../../src/conformance/report/build-report.ts';
import { type Trouble, troubleOf } from '../../components/error-note.tsx';
import { follow } from '../../session/api-client.ts';
import { advanced, type Examination } from './conformance-run.ts';
import { everything, filtered, type ResultFilter, sortedResults } from './results.ts';

/** What is asked for, beside the agent. */
export const wish = signal<Omit<ConformanceWish, 'agentId'>>({});

/** The examination that goes on, whichever view is looked at. */
export const running = signal<Examination | undefined>(undefined);

/** What the last examination found. */
export const found = signal<{ readonly report: ConformanceReport; readonly html: string } | undefined>(
  undefined,
);

/** Why there is nothing found. */
export const trouble = signal<Trouble | undefined>(undefined);

/** What of the results is to be seen. */
export const filter = signal<ResultFilter>(everything);

/** The result that is shown in full. */
export const chosen = signal<ConformanceResult | undefined>(undefined);

/** All results, the worst first. */
export const results = computed(() => (found.value ? sortedResults(found.value.report) : []));

/** The results that are to be seen. */
export const shown = computed(() => filtered(results.value, filter.value));

let stopping: AbortController | undefined;

/** Examines an agent. Leaving the view does not end it. */
export async function examine(agent: { readonly id: string; readonly name: string }): Promise<void> {
  if (running.value) return;
  const stop = new AbortController();
  stopping = stop;
  batch(() => {
    running.value = { agentName: agent.name, done: 0, total: 0, counts: {}, latest: [] };
    found.value = undefined;
    trouble.value = undefined;
    chosen.value = undefined;
    filter.value = everything;
  });
  try {
    const body: ConformanceWish = { agentId: agent.id, ...wish.value };
    const events = follow<ConformanceEvent>('conformance', { method: 'POST', body, signal: stop.signal });
    for await (const event of events) take(event);
    if (!found.value && !trouble.value)
      trouble.value = { reason: 'NO_REPORT', message: 'The examination ended without a report.' };
  } catch (error) {
    if (!stop.signal.aborted) trouble.value = troubleOf(error);
  } finally {
    running.value = undefined;
  }
}

/** Ends the examination; nothing of it is kept. */
export function cancel(): void {
  stopping?.abort();
}

function take(event: ConformanceEvent): void {
  if (event.kind === 'error') trouble.value = event;
  else if (event.kind === 'report') found.value = event;
  else if (running.value) running.value = advanced(running.value, event);
}
