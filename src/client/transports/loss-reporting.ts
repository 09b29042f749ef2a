import { leniently, type Loss, type Losses, type Reading } from '../../dialects/translation-loss.ts';
import type { LossContext, Settings } from '../connect-options.ts';

const unnoted = leniently();

/** Reads something of a peer, and tells what was lost if anybody wants to know. */
export function readNoting<T>(settings: Settings, context: LossContext, read: (reading: Reading) => T): T {
  if (!settings.onLoss) return read(unnoted);
  const losses: Loss[] = [];
  const result = read(leniently(losses));
  tell(settings, losses, context);
  return result;
}

/** Writes something for a peer, and tells what its version has no word for if anybody wants to know. */
export function writeNoting<T>(settings: Settings, context: LossContext, write: (losses: Losses) => T): T {
  if (!settings.onLoss) return write(undefined);
  const losses: Loss[] = [];
  const result = write(losses);
  tell(settings, losses, context);
  return result;
}

function tell({ onLoss }: Settings, losses: readonly Loss[], context: LossContext): void {
  if (losses.length === 0) return;
  try {
    onLoss?.(losses, context);
  } catch {
    // Whoever listens must not be able to spoil what was read.
  }
}
