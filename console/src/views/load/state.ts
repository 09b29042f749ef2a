import { signal } from '@preact/signals';
import type { LoadSample } from '../../../../src/console/console-api.ts';
import { startReconnectingStream } from '../../session/reconnecting-stream.ts';
import { withSample } from './samples.ts';

/** What happened in the last minutes, one sample for each second. */
export const samples = signal<readonly LoadSample[]>([]);

/** Reads what is measured, from the last minutes on. @returns what ends it; the server goes on measuring. */
export function startSampling(): () => void {
  return startReconnectingStream<LoadSample>({
    path: () => 'load',
    take: (sample) => {
      samples.value = withSample(samples.value, sample);
    },
  });
}
