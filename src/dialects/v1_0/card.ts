import type {
  AgentCapabilities,
  AgentCard,
  AgentCardSignature,
  AgentExtension,
  AgentInterface,
  AgentSkill,
} from '../../protocol/card.ts';
import { invalidField } from '../../protocol/errors.ts';
import { compatKey } from '../compat-metadata.ts';
import type { Codec } from '../dialect.ts';
import {
  readBoolean,
  readArray,
  readMetadata,
  readNonEmptyString,
  readObject,
  readString,
  readStrings,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import {
  mergeSecurity,
  readRequirements,
  readSecurityScheme,
  splitFlows,
  splitRequirements,
  writeRequirements,
  writeSecurityScheme,
} from './security.ts';

/** Reads a 1.0 card; accepts all variants where specification texts contradict each other. */
function readCard(value: unknown, mode: DecodeMode): AgentCard {
  const wire = readObject(value, 'card');
  const card: AgentCard = {
    name: readNonEmptyString(wire.name, 'name'),
    description: readString(wire.description, 'description') ?? '',
    version: readString(wire.version, 'version') ?? '',
    interfaces: readInterfaces(wire.supportedInterfaces ?? wire.supported_interfaces, mode),
    capabilities: readCapabilities(wire.capabilities, mode),
    defaultInputModes: readStrings(wire.defaultInputModes, 'defaultInputModes') ?? [],
    defaultOutputModes: readStrings(wire.defaultOutputModes, 'defaultOutputModes') ?? [],
    skills: readArray(wire.skills ?? [], 'skills').map((each, i) => readSkill(each, `skills[${i}]`, mode)),
  };
  readOptionalFields(wire, card);
  readSecurity(wire, card, mode);
  return card;
}

/** Reads the optional fields of a card, which are the same from 0.2 to 1.0. */
export function readOptionalFields(wire: WireObject, card: AgentCard): void {
  if (wire.provider !== undefined && wire.provider !== null) {
    const provider = readObject(wire.provider, 'provider');
    card.provider = { organization: readString(provider.organization, 'provider.organization') ?? '' };
    const url = readOptionalText(provider.url, 'provider.url');
    if (url !== undefined) card.provider.url = url;
  }
  const documentationUrl = readOptionalText(wire.documentationUrl, 'documentationUrl');
  if (documentationUrl !== undefined) card.documentationUrl = documentationUrl;
  const iconUrl = readOptionalText(wire.iconUrl, 'iconUrl');
  if (iconUrl !== undefined) card.iconUrl = iconUrl;
  if (Array.isArray(wire.signatures) && wire.signatures.length > 0) {
    card.signatures = wire.signatures as AgentCardSignature[];
  }
}

function readSecurity(wire: WireObject, card: AgentCard, mode: DecodeMode): void {
  const schemes = readMetadata(wire.securitySchemes, 'securitySchemes') ?? {};
  const read = Object.fromEntries(
    Object.entries(schemes).map(([name, each]) => [
      name,
      readSecurityScheme(each, `securitySchemes.${name}`),
    ]),
  );
  if (Object.keys(read).length > 0) card.securitySchemes = read;
  // The sample card of 1.0.1 still uses `security`.
  const requirements = wire.securityRequirements ?? wire.security;
  if (Array.isArray(requirements) && requirements.length > 0) {
    card.securityRequirements = readRequirements(requirements, 'securityRequirements', mode);
  }
  mergeSecurity(card);
}

/** Reads the list of interfaces, also of a hybrid 0.3 card. */
export function readInterfaces(value: unknown, mode: DecodeMode): AgentInterface[] {
  const list = readArray(value ?? [], 'supportedInterfaces');
  if (list.length === 0 && !mode.lenient) throw invalidField('supportedInterfaces', 'must not be empty');
  return list.map((each, i) => {
    const at = `supportedInterfaces[${i}]`;
    const wire = readObject(each, at);
    const read: AgentInterface = {
      url: readNonEmptyString(wire.url, `${at}.url`),
      protocolBinding: readOptionalText(wire.protocolBinding, `${at}.protocolBinding`) ?? 'JSONRPC',
      protocolVersion: readOptionalText(wire.protocolVersion, `${at}.protocolVersion`) ?? '1.0',
    };
    const tenant = readOptionalText(wire.tenant, `${at}.tenant`);
    if (tenant !== undefined) read.tenant = tenant;
    return read;
  });
}

/** Reads capabilities; `stateTransitionHistory`, which 1.0 removed, is restored from the compat extension. */
function readCapabilities(value: unknown, mode: DecodeMode): AgentCapabilities {
  if (value === undefined || value === null) {
    mode.losses?.push({ path: 'capabilities', kind: 'defaulted', note: 'missing capabilities' });
    return {};
  }
  const wire = readObject(value, 'capabilities');
  const capabilities: AgentCapabilities = {};
  for (const flag of ['streaming', 'pushNotifications', 'extendedAgentCard'] as const) {
    const set = readBoolean(wire[flag], `capabilities.${flag}`);
    if (set !== undefined) capabilities[flag] = set;
  }
  const extensions = readExtensions(wire.extensions, 'capabilities.extensions');
  const carried = extensions?.find((each) => each.uri === compatKey)?.params?.stateTransitionHistory;
  if (typeof carried === 'boolean') capabilities.stateTransitionHistory = carried;
  const own = extensions?.filter((each) => each.uri !== compatKey) ?? [];
  if (own.length > 0) capabilities.extensions = own;
  return capabilities;
}

/** Reads the extensions of a card, which are the same from 0.2 to 1.0. */
export function readExtensions(value: unknown, at: string): AgentExtension[] | undefined {
  if (value === undefined || value === null) return undefined;
  return readArray(value, at).map((each, i) => {
    const wire = readObject(each, `${at}[${i}]`);
    const extension: AgentExtension = { uri: readString(wire.uri, `${at}[${i}].uri`) ?? '' };
    const description = readOptionalText(wire.description, `${at}[${i}].description`);
    if (description !== undefined) extension.description = description;
    const required = readBoolean(wire.required, `${at}[${i}].required`);
    if (required !== undefined) extension.required = required;
    const params = readMetadata(wire.params, `${at}[${i}].params`);
    if (params !== undefined) extension.params = params;
    return extension;
  });
}

/** Reads a skill of 0.2 to 1.0; both formats of its security requirements are accepted. */
export function readSkill(value: unknown, at: string, mode: DecodeMode): AgentSkill {
  const wire = readObject(value, at);
  const skill: AgentSkill = {
    id: readNonEmptyString(wire.id, `${at}.id`),
    name: readString(wire.name, `${at}.name`) ?? '',
    description: readString(wire.description, `${at}.description`) ?? '',
    tags: readStrings(wire.tags, `${at}.tags`) ?? [],
  };
  for (const list of ['examples', 'inputModes', 'outputModes'] as const) {
    const strings = readStrings(wire[list], `${at}.${list}`);
    if (strings !== undefined) skill[list] = strings;
  }
  const requirements = wire.securityRequirements ?? wire.security;
  if (Array.isArray(requirements) && requirements.length > 0) {
    skill.securityRequirements = readRequirements(requirements, `${at}.securityRequirements`, mode);
  }
  return skill;
}

function writeCard(card: AgentCard, losses?: LossList): unknown {
  const schemes = card.securitySchemes && splitFlows(card.securitySchemes);
  const requirements = (list: AgentCard['securityRequirements']): unknown =>
    list && writeRequirements(splitRequirements(list, schemes ?? {}));
  if (card.provider && card.provider.url === undefined) {
    losses?.push({
      path: 'provider.url',
      kind: 'defaulted',
      note: '1.0 requires a url; written as an empty string',
    });
  }
  return {
    name: card.name,
    description: card.description,
    version: card.version,
    supportedInterfaces: card.interfaces,
    provider: card.provider && { organization: card.provider.organization, url: card.provider.url ?? '' },
    documentationUrl: card.documentationUrl,
    iconUrl: card.iconUrl,
    capabilities: writeCapabilities(card.capabilities),
    securitySchemes:
      schemes &&
      Object.fromEntries(Object.entries(schemes).map(([name, each]) => [name, writeSecurityScheme(each)])),
    securityRequirements: requirements(card.securityRequirements),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map(({ securityRequirements, ...skill }) => ({
      ...skill,
      securityRequirements: requirements(securityRequirements),
    })),
    signatures: card.signatures,
  };
}

function writeCapabilities({ stateTransitionHistory, extensions, ...flags }: AgentCapabilities): unknown {
  const carried: AgentExtension[] =
    stateTransitionHistory === undefined ? [] : [{ uri: compatKey, params: { stateTransitionHistory } }];
  const all = [...(extensions ?? []), ...carried];
  return { ...flags, extensions: all.length > 0 ? all : undefined };
}

/** Codec of 1.0 agent cards. */
export const card: Codec<AgentCard> = { read: readCard, write: writeCard };
