import {
  lenientMode,
  type TranslationLoss,
  type LossList,
  type DecodeMode,
} from '../../dialects/translation-loss.ts';
import { writeErrors } from '../../primitives/log.ts';
import type { LossContext, ClientSettings } from '../connect-options.ts';

/** Reads what a peer sent if `onLoss` is not set. */
export const modeWithoutLosses = lenientMode();

/** Decodes data of a peer and reports translation losses if `onLoss` is set. */
export function decodeReportingLosses<T>(
  settings: ClientSettings,
  context: LossContext,
  decode: (mode: DecodeMode) => T,
): T {
  if (!settings.onLoss) return decode(modeWithoutLosses);
  const losses: TranslationLoss[] = [];
  const result = decode(lenientMode(losses));
  report(settings, losses, context);
  return result;
}

/** Encodes data for a peer and reports translation losses if `onLoss` is set. */
export function encodeReportingLosses<T>(
  settings: ClientSettings,
  context: LossContext,
  encode: (losses: LossList) => T,
): T {
  if (!settings.onLoss) return encode(undefined);
  const losses: TranslationLoss[] = [];
  const result = encode(losses);
  report(settings, losses, context);
  return result;
}

function report({ onLoss }: ClientSettings, losses: readonly TranslationLoss[], context: LossContext): void {
  if (losses.length === 0) return;
  try {
    onLoss?.(losses, context);
  } catch (error) {
    writeErrors({ level: 'error', message: 'onLoss failed', error });
  }
}
