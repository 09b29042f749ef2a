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

/** Major and minor of a version text: `0.3.0` is `0.3`. */
function shortVersion(text: string): string {
  return /^\d+\.\d+/.exec(text)?.[0] ?? text;
}

/**
 * Reads the ways to reach an agent: what a hybrid lists for 1.0, in its order, then `url` with `preferredTransport`,
 * then `additionalInterfaces`, each once.
 */
export function readInterfaces(wire: WireObject, reading: DecodeMode): AgentInterface[] {
  const supported = wire.supportedInterfaces;
  const found = Array.isArray(supported) && supported.length > 0 ? readSupported(supported, reading) : [];
  if (found.length > 0 && (wire.url === undefined || wire.url === null)) return found;
  const version = readOptionalText(wire.protocolVersion, 'protocolVersion');
  if (version === undefined) {
    reading.losses?.push({
      path: 'protocolVersion',
      kind: 'defaulted',
      note: 'taken for 0.2, which had none',
    });
  }
  const protocolVersion = version === undefined ? '0.2' : shortVersion(version);
  const add = (url: string, protocolBinding: string): void => {
    const known = found.some(
      (each) =>
        each.url === url &&
        each.protocolBinding === protocolBinding &&
        shortVersion(each.protocolVersion) === protocolVersion,
    );
    if (!known) found.push({ url, protocolBinding, protocolVersion });
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
  return found;
}

/** Finds the interface that `url` stands for. */
function chooseMain(interfaces: readonly AgentInterface[], losses: LossList): AgentInterface {
  const own =
    interfaces.find((each) => shortVersion(each.protocolVersion) === '0.3') ??
    interfaces.find((each) => shortVersion(each.protocolVersion) === '0.2');
  if (own) return own;
  losses?.push({ path: 'url', kind: 'guessed', note: 'the card names no interface of 0.3' });
  return (
    interfaces.find((each) => each.protocolBinding === 'JSONRPC') ??
    interfaces[0] ?? { url: '', protocolBinding: 'JSONRPC', protocolVersion: '0.3' }
  );
}

/**
 * Writes the ways to reach an agent. If there are some that 0.3 cannot name, all of them also stand in
 * `supportedInterfaces`, in order: a hybrid card, of which readers of 0.3 ignore that half.
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
    losses?.push({ path: 'url', kind: 'dropped', note: `0.3 cannot name the tenant ${main.tenant}` });
  }
  return {
    protocolVersion: version === '0.2' ? '0.2.6' : '0.3.0',
    url: main.url,
    preferredTransport: main.protocolBinding,
    additionalInterfaces: additional.length > 0 ? additional : undefined,
    supportedInterfaces: isHybrid ? interfaces : undefined,
  };
}
