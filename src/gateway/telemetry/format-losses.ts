import type { TranslationLoss } from '../../dialects/translation-loss.ts';

/** Puts into words what a translation could not carry over. */
export function formatLosses(losses: readonly TranslationLoss[]): string {
  return losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`).join('; ');
}
