import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { AlignedLine } from './align-json.ts';

/** Translation losses at the lines that they are about. */
export interface MarkedLosses {
  readonly byLine: ReadonlyMap<AlignedLine, readonly TranslationLoss[]>;
  /** Losses of which no line is left. */
  readonly others: readonly TranslationLoss[];
}

/** Finds the line of each loss: by its path, or else by the last name in it. Lines that differ come first. */
export function markLosses(lines: readonly AlignedLine[], losses: readonly TranslationLoss[]): MarkedLosses {
  const byLine = new Map<AlignedLine, TranslationLoss[]>();
  const others: TranslationLoss[] = [];
  const sorted = lines.toSorted((a, b) => Number(a.change === 'same') - Number(b.change === 'same'));
  for (const loss of losses) {
    const path = normalizedPath(loss.path);
    const name = path.slice(path.lastIndexOf('.') + 1);
    // Paths of losses begin below the envelope.
    const line =
      sorted.find((each) => pathsOf(each).some((known) => known.endsWith(`.${path}`))) ??
      sorted.find((each) => pathsOf(each).includes(path)) ??
      sorted.find(
        (each) => each.change !== 'same' && pathsOf(each).some((known) => known.endsWith(`.${name}`)),
      );
    if (!line) others.push(loss);
    else byLine.set(line, [...(byLine.get(line) ?? []), loss]);
  }
  return { byLine, others };
}

function pathsOf({ left, right }: AlignedLine): readonly string[] {
  return [left, right].flatMap((side) => (side ? normalizedPath(side.path) : []));
}

function normalizedPath(path: string): string {
  return path.replaceAll('_', '').toLowerCase();
}
