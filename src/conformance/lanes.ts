import type { Transport, Version } from './model.ts';
import type { Speech } from './speech/speech.ts';
import { speak0_1 } from './speech/v0_1.ts';
import { speak0_3 } from './speech/v0_3.ts';
import { speak1_0 } from './speech/v1_0.ts';
import { isObject, type Json, listIn, textIn } from './speech/views.ts';

/** A card as an agent shows it, and where. */
export interface ShownCard {
  readonly url: string;
  readonly card: Json;
  /** The version whose shape it has. */
  readonly version: Version;
}

/** The version whose shape a card has. */
export function versionOfCard(card: Json): Version {
  if (Array.isArray(card.supportedInterfaces)) return '1.0';
  if (card.protocolVersion !== undefined || card.preferredTransport !== undefined) return '0.3';
  return isObject(card.authentication) || card.defaultInputModes === undefined ? '0.1' : '0.3';
}

/** Every way in which a card says that its agent can be spoken to, each once, the preferred one first. */
export function lanesOf({ card, url, version }: ShownCard): Speech[] {
  const lanes: Speech[] = [];
  const add = (spoken: Version | undefined, binding: unknown, at: unknown): void => {
    const where = absolute(textIn(at), url);
    const transport = transportOf(binding);
    if (spoken === undefined || transport === undefined || where === undefined) return;
    if (lanes.some((lane) => lane.version === spoken && lane.transport === transport)) return;
    lanes.push(speak(spoken, transport, where));
  };
  if (version === '1.0') {
    for (const each of listIn(card.supportedInterfaces) ?? []) {
      if (!isObject(each)) continue;
      add(versionNamed(each.protocolVersion) ?? '1.0', each.protocolBinding, each.url);
    }
    return lanes;
  }
  add(version, card.preferredTransport ?? 'JSONRPC', card.url);
  for (const each of listIn(card.additionalInterfaces) ?? [])
    if (isObject(each)) add(version, each.transport, each.url);
  return lanes;
}

/** Speaks a version over a transport. */
export function speak(version: Version, transport: Transport, url: string): Speech {
  if (version === '1.0') return speak1_0(transport, url);
  return version === '0.3' ? speak0_3(transport, url) : speak0_1(url);
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
