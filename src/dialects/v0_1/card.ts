import type { AgentCapabilities, AgentCard, AgentExtension, AgentSkill } from '../../protocol/card.ts';
import { compatKey } from '../compat-metadata.ts';
import type { Codec } from '../dialect.ts';
import {
  readBoolean,
  readArray,
  readNonEmptyString,
  readObject,
  readString,
  readStrings,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readExtensions } from '../v1_0/card.ts';
import { readAuthentication, writeAuthentication } from './security.ts';

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['text', 'text/plain'],
  ['data', 'application/json'],
  ['file', 'application/octet-stream'],
  ['image', 'image/*'],
]);

/** Reads modes, which in 0.1 may be words such as `text` instead of media types. */
export function readModes(modes: readonly string[], at: string, mode: DecodeMode): string[] {
  return modes.map((value, i) => {
    const type = mediaTypes.get(value);
    if (type !== undefined) {
      mode.losses?.push({ path: `${at}[${i}]`, kind: 'guessed', note: `read ${value} as ${type}` });
    }
    return type ?? value;
  });
}

function readDefaultModes(value: unknown, at: string, mode: DecodeMode): string[] {
  return readModes(readStrings(value, at) ?? ['text'], at, mode);
}

function readCard(value: unknown, mode: DecodeMode): AgentCard {
  const wire = readObject(value, 'card');
  const card: AgentCard = {
    name: readNonEmptyString(wire.name, 'name'),
    description: readString(wire.description, 'description') ?? '',
    version: readString(wire.version, 'version') ?? '',
    interfaces: [
      { url: readNonEmptyString(wire.url, 'url'), protocolBinding: 'JSONRPC', protocolVersion: '0.1' },
    ],
    capabilities: readCapabilities(wire),
    defaultInputModes: readDefaultModes(wire.defaultInputModes, 'defaultInputModes', mode),
    defaultOutputModes: readDefaultModes(wire.defaultOutputModes, 'defaultOutputModes', mode),
    skills: readArray(wire.skills ?? [], 'skills').map((each, i) => readSkill(each, `skills[${i}]`, mode)),
  };
  if (wire.provider !== undefined && wire.provider !== null) {
    const provider = readObject(wire.provider, 'provider');
    card.provider = { organization: readString(provider.organization, 'provider.organization') ?? '' };
    const url = readOptionalText(provider.url, 'provider.url');
    if (url !== undefined) card.provider.url = url;
  }
  for (const link of ['documentationUrl', 'iconUrl'] as const) {
    const url = readOptionalText(wire[link], link);
    if (url !== undefined) card[link] = url;
  }
  readSecurity(wire.authentication, card);
  return card;
}

function readCapabilities(card: WireObject): AgentCapabilities {
  const wire = readObject(card.capabilities ?? {}, 'capabilities');
  const capabilities: AgentCapabilities = {};
  for (const flag of ['streaming', 'pushNotifications', 'stateTransitionHistory'] as const) {
    const set = readBoolean(wire[flag], `capabilities.${flag}`);
    if (set !== undefined) capabilities[flag] = set;
  }
  const extended = readBoolean(card.supportsAuthenticatedExtendedCard, 'supportsAuthenticatedExtendedCard');
  if (extended !== undefined) capabilities.extendedAgentCard = extended;
  const extensions = readExtensions(wire.extensions, 'capabilities.extensions');
  if (extensions !== undefined) capabilities.extensions = extensions;
  return capabilities;
}

/** Reads `authentication`. Stores it in an extension if writing the schemes would produce something else. */
function readSecurity(wire: unknown, card: AgentCard): void {
  const security = readAuthentication(wire);
  if (!security.securitySchemes) return;
  Object.assign(card, security);
  const authentication = { ...(wire as WireObject) };
  if (authentication.credentials === null) delete authentication.credentials;
  if (isSame(authentication, writeAuthentication(security, undefined))) return;
  const stored: AgentExtension = { uri: compatKey, params: { authentication } };
  card.capabilities.extensions = [...(card.capabilities.extensions ?? []), stored];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function readSkill(value: unknown, at: string, mode: DecodeMode): AgentSkill {
  const wire = readObject(value, at);
  const skill: AgentSkill = {
    id: readNonEmptyString(wire.id, `${at}.id`),
    name: readString(wire.name, `${at}.name`) ?? '',
    description: readString(wire.description, `${at}.description`) ?? '',
    tags: readStrings(wire.tags, `${at}.tags`) ?? [],
  };
  const examples = readStrings(wire.examples, `${at}.examples`);
  if (examples !== undefined) skill.examples = examples;
  for (const list of ['inputModes', 'outputModes'] as const) {
    const modes = readStrings(wire[list], `${at}.${list}`);
    if (modes !== undefined) skill[list] = readModes(modes, `${at}.${list}`, mode);
  }
  return skill;
}

function writeCard(card: AgentCard, losses?: LossList): unknown {
  const { extensions, extendedAgentCard, ...flags } = card.capabilities;
  if (card.signatures) {
    losses?.push({ path: 'signatures', kind: 'dropped', note: 'signatures cover another format' });
  }
  const stored = extensions?.find((each) => each.uri === compatKey)?.params?.authentication;
  const own = extensions?.filter((each) => each.uri !== compatKey) ?? [];
  return {
    name: card.name,
    // Readers assume an empty text by default, here and in skills.
    description: card.description === '' ? undefined : card.description,
    url: urlOf(card, losses),
    provider: card.provider,
    version: card.version,
    documentationUrl: card.documentationUrl,
    capabilities: { ...flags, extensions: own.length > 0 ? own : undefined },
    authentication: storedAuthentication(stored, card) ?? writeAuthentication(card, losses),
    defaultInputModes: card.defaultInputModes,
    defaultOutputModes: card.defaultOutputModes,
    skills: card.skills.map((skill, i) => writeSkill(withModes(skill, card), `skills[${i}]`, losses)),
    iconUrl: card.iconUrl,
    supportsAuthenticatedExtendedCard: extendedAgentCard,
  };
}

/** Returns the stored authentication if it still matches the schemes of the card. */
function storedAuthentication(stored: unknown, card: AgentCard): unknown {
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { securitySchemes, securityRequirements } = readAuthentication(stored);
  const isCurrent =
    isSame(securitySchemes, card.securitySchemes) && isSame(securityRequirements, card.securityRequirements);
  return isCurrent ? stored : undefined;
}

/** Returns the URL of a 0.1 card, which has only one. */
function urlOf({ interfaces }: AgentCard, losses: LossList): string {
  const chosen =
    interfaces.find((each) => each.protocolVersion === '0.1') ??
    interfaces.find((each) => each.protocolBinding === 'JSONRPC') ??
    interfaces[0];
  for (const [i, each] of interfaces.entries()) {
    if (each === chosen) continue;
    losses?.push({ path: `interfaces[${i}]`, kind: 'dropped', note: 'a 0.1 card has one URL' });
  }
  if (chosen?.protocolBinding !== 'JSONRPC') {
    losses?.push({ path: 'interfaces', kind: 'guessed', note: '0.1 uses JSON-RPC, but no interface does' });
  }
  return chosen?.url ?? '';
}

/** Adds the modes of the card to a skill: 0.1 clients read them only from skills. */
function withModes(skill: AgentSkill, { defaultInputModes, defaultOutputModes }: AgentCard): AgentSkill {
  return { inputModes: defaultInputModes, outputModes: defaultOutputModes, ...skill };
}

function writeSkill(skill: AgentSkill, at: string, losses: LossList): unknown {
  const { securityRequirements, description, tags, ...rest } = skill;
  if (securityRequirements) {
    losses?.push({ path: `${at}.securityRequirements`, kind: 'dropped', note: '0.1 skills have none' });
  }
  return {
    ...rest,
    description: description === '' ? undefined : description,
    tags: tags.length > 0 ? tags : undefined,
  };
}

/** Codec of 0.1 agent cards. */
export const card: Codec<AgentCard> = { read: readCard, write: writeCard };
