import type { RuleResult } from '../../../conformance/rule-model.ts';
import { createColors } from '../../terminal/colors.ts';

/** How far a run is. */
export interface ProgressDisplay {
  tell(done: number, total: number, last: RuleResult | undefined): void;
  clear(): void;
}

/** Shows how far a run is: a bar on a terminal, now and then a line elsewhere. */
export function createProgressDisplay(output: NodeJS.WriteStream, isShown: boolean): ProgressDisplay {
  const { green, red, dim } = createColors(output);
  let broken = 0;
  let told = 0;
  const line = (done: number, total: number): string =>
    `${done} of ${total} checks${broken > 0 ? `, ${broken} broken` : ''}`;
  return {
    tell(done, total, last) {
      if (last?.verdict === 'fail') broken++;
      if (!isShown) return;
      if (output.isTTY) {
        const filled = Math.min(24, Math.round((done / Math.max(total, 1)) * 24));
        const bar = (broken > 0 ? red : green)('█'.repeat(filled)) + dim('░'.repeat(24 - filled));
        output.write(`\r\u001B[K${bar} ${line(done, total)}`);
      } else if (last?.verdict === 'fail')
        output.write(`broken: ${last.rule.id} on ${last.version} ${last.transport ?? 'card'}\n`);
      else if (done - told >= 50 || done === total) {
        told = done;
        output.write(`${line(done, total)}\n`);
      }
    },
    clear() {
      if (isShown && output.isTTY) output.write('\r\u001B[K');
    },
  };
}
