import type { ProtocolVersion } from '../protocol/card.ts';
import type { Dialect } from './dialect.ts';
import type { WireObject } from './field-readers.ts';
import { v0_1 } from './v0_1/index.ts';
import { v0_3 } from './v0_3/index.ts';
import { v1_0 } from './v1_0/index.ts';

/** What a card tells about the version of its agent. */
export interface CardDialect {
  readonly version: ProtocolVersion | 'unknown';
  /** The dialect to read the card with, and to try first when `version` is unknown. */
  readonly dialect: Dialect;
  /** True when a card of 1.0 can be read as one of 0.3 too. */
  readonly hybrid: boolean;
  /**
   * True when the card has an address but no mark of any version: the agent speaks 0.1 or an early 0.2. Ask with
   * `message/send` first and with `tasks/send` if it does not know that.
   */
  readonly uncertain: boolean;
}

function settled(version: ProtocolVersion, dialect: Dialect, hybrid = false): CardDialect {
  return Object.freeze({ version, dialect, hybrid, uncertain: false });
}

const choices = {
  modern: settled('1.0', v1_0),
  hybrid: settled('1.0', v1_0, true),
  v0_3: settled('0.3', v0_3),
  v0_2: settled('0.2', v0_3),
  v0_1: settled('0.1', v0_1),
  uncertain: Object.freeze({ version: 'unknown', dialect: v0_3, hybrid: false, uncertain: true }),
  // No dialect fits; the newest one says best what is missing.
  noCard: Object.freeze({ version: 'unknown', dialect: v1_0, hybrid: false, uncertain: false }),
} as const satisfies { [name: string]: CardDialect };

/** Tells from the card of an agent which version it speaks. */
export function dialectForCard(card: unknown): CardDialect {
  if (typeof card !== 'object' || card === null) return choices.noCard;
  const wire = card as WireObject;
  const hasUrl = typeof wire.url === 'string' && wire.url !== '';
  const interfaces = wire.supportedInterfaces ?? wire.supported_interfaces;
  if (Array.isArray(interfaces) && interfaces.length > 0) return hasUrl ? choices.hybrid : choices.modern;
  const version = typeof wire.protocolVersion === 'string' ? wire.protocolVersion : '';
  if (version === '' && !isSet(wire.securitySchemes) && hasSchemes(wire.authentication)) return choices.v0_1;
  if (/^0\.3(?:\.|$)/.test(version)) return choices.v0_3;
  if (/^0\.2(?:\.|$)/.test(version)) return choices.v0_2;
  if (!hasUrl) return choices.noCard;
  if (version === '' && (isSet(wire.securitySchemes) || isSet(wire.preferredTransport))) return choices.v0_2;
  return choices.uncertain;
}

function hasSchemes(authentication: unknown): boolean {
  return typeof authentication === 'object' && authentication !== null && 'schemes' in authentication;
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
