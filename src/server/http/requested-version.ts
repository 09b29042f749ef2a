import { parseVersionHeader } from '../../dialects/negotiation.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';

/** Returns the version of an error response: the requested one, or 1.0 if that is not supported. */
export function versionForErrors(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return '1.0';
  }
}
