import { signal } from '@preact/signals';
import type { LoadSample } from '../../../../src/console/api.ts';
import { keepFollowing } from '../../session/keep-following.ts';
import { withSample } from './samples.ts';

/** What happened in the last minutes, one sample for each second. */
export const samples = signal<readonly LoadSample[]>([]);

let hasBegun = false;

/** Begins to measure; it goes on when the person looks at another view, so that the charts have no holes. */
export function begin(): void {
  if (hasBegun) return;
  hasBegun = true;
  keepFollowing<LoadSample>({
    path: () => 'load',
    take: (sample) => {
      samples.value = withSample(samples.value, sample);
    },
  });
}
