import { isSet } from './field-readers.ts';
import type { ProtocolVersion } from '../protocol/card.ts';
import type { Dialect } from './dialect.ts';
import type { WireObject } from './field-readers.ts';
import { v0_1 } from './v0_1/index.ts';
import { v0_3 } from './v0_3/index.ts';
import { v1_0 } from './v1_0/index.ts';

/** Version and dialect that a card indicates. */
export interface CardDialect {
  readonly version: ProtocolVersion | 'unknown';
  /** Dialect for reading the card, and to try first if `version` is unknown. */
  readonly dialect: Dialect;
  /** True if a 1.0 card can also be read as a 0.3 card. */
  readonly hybrid: boolean;
  /**
   * True if the card has a URL but no sign of a version: the agent implements 0.1 or an early 0.2. Call
   * `message/send` first, then `tasks/send` if the method is not found.
   */
  readonly uncertain: boolean;
}

function certain(version: ProtocolVersion, dialect: Dialect, hybrid = false): CardDialect {
  return Object.freeze({ version, dialect, hybrid, uncertain: false });
}

const results = {
  modern: certain('1.0', v1_0),
  hybrid: certain('1.0', v1_0, true),
  v0_3: certain('0.3', v0_3),
  v0_2: certain('0.2', v0_3),
  v0_1: certain('0.1', v0_1),
  uncertain: Object.freeze({ version: 'unknown', dialect: v0_3, hybrid: false, uncertain: true }),
  // No dialect matches; the newest one reports best what is missing.
  noCard: Object.freeze({ version: 'unknown', dialect: v1_0, hybrid: false, uncertain: false }),
} as const satisfies { [name: string]: CardDialect };

/** Detects the protocol version of an agent from its card. */
export function dialectForCard(card: unknown): CardDialect {
  if (typeof card !== 'object' || card === null) return results.noCard;
  const wire = card as WireObject;
  const hasUrl = typeof wire.url === 'string' && wire.url !== '';
  const interfaces = wire.supportedInterfaces ?? wire.supported_interfaces;
  if (Array.isArray(interfaces) && interfaces.length > 0) return hasUrl ? results.hybrid : results.modern;
  const version = typeof wire.protocolVersion === 'string' ? wire.protocolVersion : '';
  if (version === '' && !isSet(wire.securitySchemes) && hasSchemes(wire.authentication)) return results.v0_1;
  if (/^0\.3(?:\.|$)/.test(version)) return results.v0_3;
  if (/^0\.2(?:\.|$)/.test(version)) return results.v0_2;
  if (!hasUrl) return results.noCard;
  if (version === '' && (isSet(wire.securitySchemes) || isSet(wire.preferredTransport))) return results.v0_2;
  return results.uncertain;
}

function hasSchemes(authentication: unknown): boolean {
  return typeof authentication === 'object' && authentication !== null && 'schemes' in authentication;
}
