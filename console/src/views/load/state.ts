import { batch, computed, signal } from '@preact/signals';
import type { LoadEvent, LoadSample } from '../../../../src/console/console-api.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { currentRoute, navigate } from '../../session/router.ts';
import { withSample } from './samples.ts';

/** Samples of the last minutes, one per second. */
export const samples = signal<readonly LoadSample[]>([]);

/** Names of agents in recorded traffic. */
export const agentNames = signal<readonly string[]>([]);

/** The name of the agent whose load is displayed; empty for all. */
export const selectedName = computed(() => currentRoute.value.details.get('of') ?? '');

/** True if the load of conformance runs and load runs is displayed too. */
export const isWithTests = computed(() => currentRoute.value.details.get('tests') === 'show');

/** The part of the view: the observed load, or the load run. */
export const openPart = computed(() =>
  currentRoute.value.details.get('part') === 'run' ? 'run' : 'observed',
);

/** Changes parameters of the view in the URL and keeps the others; an empty one is removed. */
export function openLoadView(change: {
  part?: string;
  of?: string;
  agent?: string;
  tests?: string | undefined;
}): void {
  const { part, of, agent, tests }: typeof change = {
    ...Object.fromEntries(currentRoute.value.details),
    ...change,
  };
  navigate('load', { agent, part: part === 'run' ? part : undefined, of: of === '' ? undefined : of, tests });
}

/** Subscribes to samples of an agent, or of all, starting with the last minutes. @returns a function that unsubscribes */
export function startSampling(name: string, hasTests: boolean): () => void {
  samples.value = [];
  const query = new URLSearchParams({ ...(name && { agent: name }), ...(!hasTests && { tests: 'hide' }) });
  return startReconnectingStream<LoadEvent>({
    path: () => `load?${query}`,
    take: (event) =>
      batch(() => {
        if (event.kind === 'agents') agentNames.value = event.names;
        else samples.value = withSample(samples.value, event.sample);
      }),
  });
}
