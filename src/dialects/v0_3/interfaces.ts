import type { AgentInterface } from '../../protocol/card.ts';
import {
  readArray,
  readNonEmptyString,
  readObject,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readInterfaces as readSupported } from '../v1_0/card.ts';

/** Returns major and minor version: `0.3.0` → `0.3`. */
function shortVersion(text: string): string {
  return /^\d+\.\d+/.exec(text)?.[0] ?? text;
}

/**
 * Reads the distinct interfaces of a card: those that a hybrid card lists for 1.0, then `url` with `preferredTransport`,
 * then `additionalInterfaces`.
 */
export function readInterfaces(wire: WireObject, mode: DecodeMode): AgentInterface[] {
  const supported = wire.supportedInterfaces;
  const interfaces = Array.isArray(supported) && supported.length > 0 ? readSupported(supported, mode) : [];
  if (interfaces.length > 0 && (wire.url === undefined || wire.url === null)) return interfaces;
  const version = readOptionalText(wire.protocolVersion, 'protocolVersion');
  if (version === undefined) {
    mode.losses?.push({ path: 'protocolVersion', kind: 'defaulted', note: 'missing; read as 0.2' });
  }
  const protocolVersion = version === undefined ? '0.2' : shortVersion(version);
  const add = (url: string, protocolBinding: string): void => {
    const isDuplicate = interfaces.some(
      (each) =>
        each.url === url &&
        each.protocolBinding === protocolBinding &&
        shortVersion(each.protocolVersion) === protocolVersion,
    );
    if (!isDuplicate) interfaces.push({ url, protocolBinding, protocolVersion });
  };
  add(
    readNonEmptyString(wire.url, 'url'),
    readOptionalText(wire.preferredTransport, 'preferredTransport') ?? 'JSONRPC',
  );
  readArray(wire.additionalInterfaces ?? [], 'additionalInterfaces').forEach((each, i) => {
    const at = `additionalInterfaces[${i}]`;
    const more = readObject(each, at);
    add(
      readNonEmptyString(more.url, `${at}.url`),
      readOptionalText(more.transport, `${at}.transport`) ?? 'JSONRPC',
    );
  });
  return interfaces;
}

/** Selects the interface for `url`. */
function chooseMain(interfaces: readonly AgentInterface[], losses: LossList): AgentInterface {
  const main =
    interfaces.find((each) => shortVersion(each.protocolVersion) === '0.3') ??
    interfaces.find((each) => shortVersion(each.protocolVersion) === '0.2');
  if (main) return main;
  losses?.push({ path: 'url', kind: 'guessed', note: 'the card has no 0.3 interface' });
  return (
    interfaces.find((each) => each.protocolBinding === 'JSONRPC') ??
    interfaces[0] ?? { url: '', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
  );
}

/**
 * Writes the interfaces of a card. If 0.3 cannot represent some of them, all are also listed in `supportedInterfaces`:
 * a hybrid card, of which 0.3 clients ignore that field.
 */
export function writeInterfaces(interfaces: readonly AgentInterface[], losses: LossList): WireObject {
  const main = chooseMain(interfaces, losses);
  const version = shortVersion(main.protocolVersion) === '0.2' ? '0.2' : '0.3';
  const additional: unknown[] = [];
  const seen = new Set([`${main.protocolBinding} ${main.url}`]);
  let isHybrid = false;
  for (const each of interfaces) {
    if (shortVersion(each.protocolVersion) !== version || each.tenant !== undefined) isHybrid = true;
    if (shortVersion(each.protocolVersion) !== version) continue;
    const key = `${each.protocolBinding} ${each.url}`;
    if (seen.has(key)) continue;
    seen.add(key);
    additional.push({ url: each.url, transport: each.protocolBinding });
  }
  if (main.tenant !== undefined) {
    losses?.push({ path: 'url', kind: 'dropped', note: `0.3 has no tenant (${main.tenant})` });
  }
  return {
    protocolVersion: version === '0.2' ? '0.2.6' : '0.3.0',
    url: main.url,
    preferredTransport: main.protocolBinding,
    additionalInterfaces: additional.length > 0 ? additional : undefined,
    supportedInterfaces: isHybrid ? interfaces : undefined,
  };
}
