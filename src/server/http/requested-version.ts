import { parseVersionHeader } from '../../dialects/negotiation.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';

/** The version to refuse a caller in: the one it names, or 1.0 where it names one that nobody speaks. */
export function versionForErrors(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return '1.0';
  }
}
