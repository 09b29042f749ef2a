import { signal } from '@preact/signals';
import type { LoadSample } from '../../../../src/console/console-api.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { withSample } from './samples.ts';

/** Samples of the last minutes, one per second. */
export const samples = signal<readonly LoadSample[]>([]);

/** Subscribes to samples, starting with the last minutes. @returns a function that unsubscribes */
export function startSampling(): () => void {
  return startReconnectingStream<LoadSample>({
    path: () => 'load',
    take: (sample) => {
      samples.value = withSample(samples.value, sample);
    },
  });
}
