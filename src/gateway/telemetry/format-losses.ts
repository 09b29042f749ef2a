import type { Loss } from '../../dialects/translation-loss.ts';

/** Puts into words what a translation could not carry over. */
export function inWords(losses: readonly Loss[]): string {
  return losses.map(({ path, kind, note }) => `${path} ${kind}: ${note}`).join('; ');
}
