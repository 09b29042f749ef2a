import { leniently, type Loss, type Reading } from '../../dialects/loss.ts';
import type { LossContext, Settings } from '../options.ts';

const unnoted = leniently();

/** Reads something of a peer, and tells what was lost if anybody wants to know. */
export function readNoting<T>({ onLoss }: Settings, context: LossContext, read: (reading: Reading) => T): T {
  if (!onLoss) return read(unnoted);
  const losses: Loss[] = [];
  const result = read(leniently(losses));
  if (losses.length === 0) return result;
  try {
    onLoss(losses, context);
  } catch {
    // Whoever listens must not be able to spoil what was read.
  }
  return result;
}
