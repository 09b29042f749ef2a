import {
  lenientMode,
  type TranslationLoss,
  type LossList,
  type DecodeMode,
} from '../../dialects/translation-loss.ts';
import type { LossContext, ClientSettings } from '../connect-options.ts';

const unnoted = lenientMode();

/** Reads something of a peer, and tells what was lost if anybody wants to know. */
export function decodeReportingLosses<T>(
  settings: ClientSettings,
  context: LossContext,
  read: (reading: DecodeMode) => T,
): T {
  if (!settings.onLoss) return read(unnoted);
  const losses: TranslationLoss[] = [];
  const result = read(lenientMode(losses));
  tell(settings, losses, context);
  return result;
}

/** Writes something for a peer, and tells what its version has no word for if anybody wants to know. */
export function encodeReportingLosses<T>(
  settings: ClientSettings,
  context: LossContext,
  write: (losses: LossList) => T,
): T {
  if (!settings.onLoss) return write(undefined);
  const losses: TranslationLoss[] = [];
  const result = write(losses);
  tell(settings, losses, context);
  return result;
}

function tell({ onLoss }: ClientSettings, losses: readonly TranslationLoss[], context: LossContext): void {
  if (losses.length === 0) return;
  try {
    onLoss?.(losses, context);
  } catch {
    // Whoever listens must not be able to spoil what was read.
  }
}
