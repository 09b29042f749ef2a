import type { LoadRunEvent, SampleLatency } from '../../../../../src/console/console-api.ts';

type Started = Extract<LoadRunEvent, { kind: 'started' }>;
type Report = Extract<LoadRunEvent, { kind: 'report' }>['report'];
type Progress = Extract<LoadRunEvent, { kind: 'progress' }>['progress'];

/** Load of one second of a run. */
export interface RunSample {
  readonly at: number;
  /** Completed requests per second, including failed ones. */
  readonly requests: number;
  readonly errors: number;
  readonly events: number;
  /** Requests without a response. */
  readonly open: number;
  readonly latency: SampleLatency | undefined;
}

/** The newest load run, as far as it is known. */
export interface DisplayedRun {
  readonly start: Started;
  /** Version and transport; undefined until the agent has responded. */
  readonly variant?: string;
  readonly progress?: Progress;
  readonly samples: readonly RunSample[];
  readonly report?: Report;
  readonly error?: { readonly reason: string; readonly message: string };
}

/** The last interval of a run can be too short for a rate. */
const minInterval = 250;

/** Applies an event. The server sends all events of a run again after a reconnect, beginning with `started`. */
export function applyRunEvent(run: DisplayedRun | undefined, event: LoadRunEvent): DisplayedRun | undefined {
  if (event.kind === 'started') return { start: event, samples: [] };
  if (!run) return undefined;
  switch (event.kind) {
    case 'connected':
      return { ...run, variant: `${event.variant.version} over ${event.variant.transport}` };
    case 'progress': {
      const { at, progress } = event;
      const samples =
        progress.interval < minInterval ? run.samples : [...run.samples, toSample(at, progress)];
      return { ...run, progress, samples };
    }
    case 'report':
      return { ...run, report: event.report };
    case 'error':
      return { ...run, error: event };
  }
}

/** Returns true if a run has neither a report nor an error. */
export function isInProgress(run: DisplayedRun | undefined): boolean {
  return run !== undefined && run.report === undefined && run.error === undefined;
}

function toSample(at: number, { interval, open, last }: Progress): RunSample {
  const perSecond = (count: number): number => (count * 1_000) / interval;
  return {
    at,
    requests: perSecond(last.requests),
    errors: perSecond(last.errors),
    events: perSecond(last.events),
    open,
    latency: last.latency,
  };
}
