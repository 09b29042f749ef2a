import type { LoadProgress } from '../../../load/load-report.ts';
import { createColors } from '../../terminal/colors.ts';
import { formatMilliseconds } from './format-load-report.ts';

/** Displays the progress of a load run: a line that is rewritten each second. */
export interface LoadDisplay {
  update(progress: LoadProgress): void;
  clear(): void;
}

/** Creates the display. It writes nothing unless the output is a terminal. */
export function createLoadDisplay(output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'>): LoadDisplay {
  const { dim, red } = createColors(output);
  const write = (text: string): void => {
    if (output.isTTY) output.write(`\r\u001B[K${text}`);
  };
  return {
    update({ phase, share, errors, open, interval, last }) {
      const rate = (last.requests * 1_000) / Math.max(1, interval);
      const { p50, p99 } = last.latency ?? {};
      const parts = [
        `${Math.round(share * 100)} % ${phase}`,
        `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} requests/s`,
        `p50 ${formatMilliseconds(p50)}`,
        `p99 ${formatMilliseconds(p99)}`,
        `${open} open`,
      ];
      const failed = errors === 0 ? '' : red(`, ${errors} errors`);
      write(`${parts.join(dim(', '))}${failed}`);
    },
    clear: () => write(''),
  };
}
