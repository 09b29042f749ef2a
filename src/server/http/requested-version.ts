import { versionOf } from '../../dialects/negotiation.ts';
import type { Version } from '../../protocol/card.ts';

/** The version to refuse a caller in: the one it names, or 1.0 where it names one that nobody speaks. */
export function versionNamed(text: string | undefined): Version | undefined {
  try {
    return versionOf(text);
  } catch {
    return '1.0';
  }
}
