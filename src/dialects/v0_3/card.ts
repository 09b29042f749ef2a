import type {
  AgentCapabilities,
  AgentCard,
  SecurityRequirement,
  SecurityScheme,
} from '../../protocol/card.ts';
import type { Codec } from '../dialect.ts';
import {
  readBoolean,
  readArray,
  readNonEmptyString,
  readObject,
  readString,
  readStrings,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readExtensions, readOptionalFields, readSkill } from '../v1_0/card.ts';
import { readRequirements } from '../v1_0/security.ts';
import { readInterfaces, writeInterfaces } from './interfaces.ts';
import { readSecuritySchemes, writeSecurityScheme } from './security.ts';

/** Reads a card of 0.2 or 0.3, or the 0.3 part and the interfaces of a hybrid card. */
export function readCard(value: unknown, mode: DecodeMode): AgentCard {
  const wire = readObject(value, 'card');
  const card: AgentCard = {
    name: readNonEmptyString(wire.name, 'name'),
    description: readString(wire.description, 'description') ?? '',
    version: readString(wire.version, 'version') ?? '',
    interfaces: readInterfaces(wire, mode),
    capabilities: readCapabilities(wire, mode),
    defaultInputModes: readStrings(wire.defaultInputModes, 'defaultInputModes') ?? [],
    defaultOutputModes: readStrings(wire.defaultOutputModes, 'defaultOutputModes') ?? [],
    skills: readArray(wire.skills ?? [], 'skills').map((each, i) => readSkill(each, `skills[${i}]`, mode)),
  };
  readOptionalFields({ ...wire, signatures: undefined }, card);
  recordSignatureLoss(wire.signatures, mode.losses);
  if (wire.securitySchemes !== undefined && wire.securitySchemes !== null) {
    const schemes = readSecuritySchemes(wire.securitySchemes, mode);
    if (Object.keys(schemes).length > 0) card.securitySchemes = schemes;
  }
  const requirements = wire.security ?? wire.securityRequirements;
  if (Array.isArray(requirements) && requirements.length > 0) {
    card.securityRequirements = readRequirements(requirements, 'security', mode);
  }
  return card;
}

/** A signature covers one exact format of a card and is not valid for others. */
function recordSignatureLoss(signatures: unknown, losses: LossList): void {
  if (!Array.isArray(signatures) || signatures.length === 0) return;
  losses?.push({ path: 'signatures', kind: 'dropped', note: 'a translated card needs a new signature' });
}

function readCapabilities(card: WireObject, mode: DecodeMode): AgentCapabilities {
  const capabilities: AgentCapabilities = {};
  if (card.capabilities === undefined || card.capabilities === null) {
    mode.losses?.push({ path: 'capabilities', kind: 'defaulted', note: 'missing capabilities' });
  } else {
    const wire = readObject(card.capabilities, 'capabilities');
    for (const flag of [
      'streaming',
      'pushNotifications',
      'stateTransitionHistory',
      'extendedAgentCard',
    ] as const) {
      const set = readBoolean(wire[flag], `capabilities.${flag}`);
      if (set !== undefined) capabilities[flag] = set;
    }
    const extensions = readExtensions(wire.extensions, 'capabilities.extensions');
    if (extensions !== undefined && extensions.length > 0) capabilities.extensions = extensions;
  }
  const extended = readBoolean(card.supportsAuthenticatedExtendedCard, 'supportsAuthenticatedExtendedCard');
  if (extended !== undefined) capabilities.extendedAgentCard = extended;
  return capabilities;
}

/** Writers of the security fields, in which JSON and protocol buffers of 0.3 cards differ. */
export interface SecurityWriter {
  schemes(schemes: { [name: string]: SecurityScheme }): unknown;
  requirements(list: readonly SecurityRequirement[]): unknown;
}

/** Writes a 0.3 card with the given format of its security fields. */
export function writeCardWith(card: AgentCard, security: SecurityWriter, losses: LossList): unknown {
  const { extendedAgentCard, ...capabilities } = card.capabilities;
  recordSignatureLoss(card.signatures, losses);
  if (card.provider && card.provider.url === undefined) {
    losses?.push({
      path: 'provider.url',
      kind: 'defaulted',
      note: '0.3 requires a url; written as an empty string',
    });
  }
  return {
    ...writeInterfaces(card.interfaces, losses),
    name: card.name,
    description: card.description,
    version: card.version,
    provider: card.provider && { organization: card.provider.organization, url: card.provider.url ?? '' },
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    capabilities,
    securitySchemes: card.securitySchemes && security.schemes(card.securitySchemes),
    security: card.securityRequirements && security.requirements(card.securityRequirements),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ securityRequirements, ...skill }) => ({
      ...skill,
      security: securityRequirements && security.requirements(securityRequirements),
    })),
    supportsAuthenticatedExtendedCard: extendedAgentCard,
  };
}

const typed: SecurityWriter = {
  schemes: (schemes) =>
    Object.fromEntries(Object.entries(schemes).map(([name, each]) => [name, writeSecurityScheme(each)])),
  requirements: (list) => list,
};

/** Codec of 0.2 and 0.3 agent cards. */
export const card: Codec<AgentCard> = {
  read: readCard,
  write: (value, losses) => writeCardWith(value, typed, losses),
};
