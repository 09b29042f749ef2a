import { dialectForCard } from '../../dialects/card-negotiation.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Value of `--a2a-version` that allows every version. */
export const anyVersion = 'auto';

/** Returns the versions that a command may use: by default no version before 1.0; undefined for all. */
export function allowedVersions(requested: string | undefined): ProtocolVersion[] | undefined {
  return requested === anyVersion ? undefined : [(requested ?? '1.0') as ProtocolVersion];
}

/** Returns an error if a card without 1.0 was found and the user has not allowed other versions. */
export function olderVersionError(wireCard: object, requested: string | undefined): A2AError | undefined {
  if (requested !== undefined) return undefined;
  const offered = offeredVersions(wireCard);
  if (offered.length === 0 || offered.includes('1.0')) return undefined;
  return new A2AError('VERSION_NOT_SUPPORTED', `The agent offers A2A ${offered.join(' and ')}, not 1.0`);
}

function offeredVersions(wireCard: object): readonly string[] {
  const { supportedInterfaces } = wireCard as { supportedInterfaces?: unknown };
  if (Array.isArray(supportedInterfaces)) {
    const versions = (supportedInterfaces as readonly { protocolVersion?: unknown }[])
      .map((each) => /^\d\.\d/.exec(String(each?.protocolVersion))?.[0] ?? '')
      .filter((each) => each !== '');
    return [...new Set(versions)];
  }
  const { version, uncertain } = dialectForCard(wireCard);
  if (uncertain) return ['0.2 or 0.1'];
  return version === 'unknown' ? [] : [version];
}
