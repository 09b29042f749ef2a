import type { TranslationLoss } from '../../dialects/translation-loss.ts';

/** Formats translation losses for a log message. */
export function formatLosses(losses: readonly TranslationLoss[]): string {
  return losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`).join('; ');
}
