import type { Transport, Version } from '../rule-model.ts';
import type { Manner, Speech } from '../drivers/protocol-driver.ts';
import { speak0_1 } from '../drivers/v0_1.ts';
import { speak0_3 } from '../drivers/v0_3.ts';
import { speak1_0 } from '../drivers/v1_0.ts';
import { isObject, type Json, listIn, textIn } from '../drivers/normalized-views.ts';

/** A card as an agent shows it, and where. */
export interface ShownCard {
  readonly url: string;
  readonly card: Json;
  /** The version whose shape it has. */
  readonly version: Version;
}

/** Members that came with 0.2 and stayed until 0.3. */
const newer = [
  'protocolVersion',
  'preferredTransport',
  'additionalInterfaces',
  'securitySchemes',
  'security',
];

/** The version whose shape a card has, and whether nothing else could be meant: cards of 0.1 and 0.2 may be the same. */
export function shapeOf(card: Json): { version: Version; isCertain: boolean } {
  if (Array.isArray(card.supportedInterfaces)) return { version: '1.0', isCertain: true };
  if (newer.some((member) => card[member] !== undefined)) return { version: '0.3', isCertain: true };
  if (isObject(card.authentication)) return { version: '0.1', isCertain: true };
  return { version: card.defaultInputModes === undefined ? '0.1' : '0.3', isCertain: false };
}

/** Every way in which a card says that its agent can be spoken to, each once, the preferred one first. */
export function lanesOf({ card, url, version }: ShownCard): Speech[] {
  const lanes: Speech[] = [];
  const extensions = requiredExtensions(card);
  const add = (spoken: Version | undefined, binding: unknown, at: unknown, tenant?: unknown): void => {
    const where = absolute(textIn(at), url);
    const transport = transportOf(binding);
    if (spoken === undefined || transport === undefined || where === undefined) return;
    if (lanes.some((lane) => lane.version === spoken && lane.transport === transport)) return;
    lanes.push(withExtensions(speak(spoken, transport, where, textIn(tenant)), extensions));
  };
  if (version === '1.0') {
    for (const each of listIn(card.supportedInterfaces) ?? []) {
      if (!isObject(each)) continue;
      add(versionNamed(each.protocolVersion) ?? '1.0', each.protocolBinding, each.url, each.tenant);
    }
    return lanes;
  }
  add(version, card.preferredTransport ?? 'JSONRPC', card.url);
  for (const each of listIn(card.additionalInterfaces) ?? [])
    if (isObject(each)) add(version, each.transport, each.url);
  return lanes;
}

/** Speaks a version over a transport, for a tenant if the interface names one. */
export function speak(version: Version, transport: Transport, url: string, tenant = ''): Speech {
  if (version === '1.0' && tenant !== '') return speakFor(tenant, transport, url);
  if (version === '1.0') return speak1_0(transport, url);
  return version === '0.3' ? speak0_3(transport, url) : speak0_1(url);
}

/** The tenant is in the path of REST and among the params of JSON-RPC. */
function speakFor(tenant: string, transport: Transport, url: string): Speech {
  if (transport === 'HTTP+JSON')
    return speak1_0(transport, `${url.replace(/\/+$/, '')}/${encodeURIComponent(tenant)}`);
  const speech = speak1_0(transport, url);
  const within = ({ alter = (wire) => wire, ...manner }: Manner = {}): Manner => ({
    ...manner,
    alter: (wire) => alter({ tenant, ...wire }),
  });
  return { ...speech, say: (operation, asking, manner) => speech.say(operation, asking, within(manner)) };
}

/** The extensions without which an agent does nothing. */
export function requiredExtensions(card: Json): string[] {
  const declared = isObject(card.capabilities) ? (listIn(card.capabilities.extensions) ?? []) : [];
  return declared
    .filter(isObject)
    .filter(({ required }) => required === true)
    .flatMap(({ uri }) => textIn(uri) ?? []);
}

/** Declares with every request that we know what the agent requires; a check may say otherwise. */
export function withExtensions(speech: Speech, uris: readonly string[]): Speech {
  if (uris.length === 0) return speech;
  const name = speech.version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions';
  const declaring = ({ headers, ...manner }: Manner = {}): Manner => ({
    ...manner,
    headers: { [name]: uris.join(','), ...headers },
  });
  return {
    ...speech,
    headers: { ...speech.headers, [name]: uris.join(',') },
    say: (operation, asking, manner) => speech.say(operation, asking, declaring(manner)),
  };
}

/** The version that a text such as `0.3.0` names. */
export function versionNamed(text: unknown): Version | undefined {
  const named = /^(\d+\.\d+)/.exec(textIn(text) ?? '')?.[1];
  if (named === '1.0') return '1.0';
  if (named === '0.3' || named === '0.2') return '0.3';
  return named === '0.1' ? '0.1' : undefined;
}

function transportOf(binding: unknown): Transport | undefined {
  return binding === 'JSONRPC' || binding === 'HTTP+JSON' ? binding : undefined;
}

function absolute(at: string | undefined, base: string): string | undefined {
  try {
    return at === undefined ? undefined : new URL(at, base).href;
  } catch {
    return undefined;
  }
}
