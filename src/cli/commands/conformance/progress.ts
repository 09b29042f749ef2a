import type { RuleResult } from '../../../conformance/rule-model.ts';
import { createColors } from '../../terminal/colors.ts';

/** Progress of a conformance run on a terminal. */
export interface ProgressDisplay {
  update(done: number, total: number, last: RuleResult | undefined): void;
  clear(): void;
}

/** Creates a progress display: a bar on a terminal, otherwise a line every 50 checks and for each failure. */
export function createProgressDisplay(output: NodeJS.WriteStream, isShown: boolean): ProgressDisplay {
  const { green, red, dim } = createColors(output);
  let failed = 0;
  let lastPrinted = 0;
  const line = (done: number, total: number): string =>
    `${done} of ${total} checks${failed > 0 ? `, ${failed} failed` : ''}`;
  return {
    update(done, total, last) {
      if (last?.verdict === 'fail') failed++;
      if (!isShown) return;
      if (output.isTTY) {
        const filled = Math.min(24, Math.round((done / Math.max(total, 1)) * 24));
        const bar = (failed > 0 ? red : green)('█'.repeat(filled)) + dim('░'.repeat(24 - filled));
        output.write(`\r\u001B[K${bar} ${line(done, total)}`);
      } else if (last?.verdict === 'fail')
        output.write(`failed: ${last.rule.id} on ${last.version} ${last.transport ?? 'card'}\n`);
      else if (done - lastPrinted >= 50 || done === total) {
        lastPrinted = done;
        output.write(`${line(done, total)}\n`);
      }
    },
    clear() {
      if (isShown && output.isTTY) output.write('\r\u001B[K');
    },
  };
}
