import { parseVersionHeader } from '../../dialects/negotiation.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { ServerOptions } from '../server-options.ts';

/** Returns the version of an error response: the requested one, or 1.0 if that is not supported. */
export function versionForErrors(text: string | undefined): ProtocolVersion | undefined {
  try {
    return parseVersionHeader(text);
  } catch {
    return '1.0';
  }
}

/** Returns 1.0 for a previewed version, which adds members to it. */
export function withoutPreview(
  version: string | undefined,
  preview: ServerOptions['preview'],
): string | undefined {
  return preview !== undefined && version !== undefined && /^\s*1\.1(?:\.|\s*$)/.test(version)
    ? '1.0'
    : version;
}
