import {
  type IpAddress,
  type AddressKind,
  classifyAddress,
  parseIpAddress,
  embeddedIpv4,
} from './ip-address.ts';
import { classifyHostName } from './host-names.ts';
import type { EgressOptions } from '../egress-options.ts';
import { matchesAddress, matchesHost, parseHostRules, type HostRule } from './host-rules.ts';

/** Who is to be connected to. */
export interface ConnectionTarget {
  /** A name or an address, without brackets and in lower case. */
  host: string;
  /** Not known when only a name is looked up. */
  port?: number;
}

/** Why something is refused. */
export interface Denial {
  /** For the peer, which learns nothing about addresses. */
  why: string;
  /** For the person in charge, with the option to set. */
  hint: string;
}

/** Decides about hosts and addresses; `undefined` is consent. */
export interface HostPolicy {
  host(target: ConnectionTarget): Denial | undefined;
  address(text: string, target: ConnectionTarget): Denial | undefined;
  /** Says whether the target is this machine and may be. */
  isOwnMachine(target: ConnectionTarget): boolean;
  /** Says whether the list of exceptions names the target together with its port. */
  isAllowedWithPort(target: ConnectionTarget): boolean;
}

const notPublic = 'its host is not on the public internet';
const notWanted = 'its host is not wanted here';

/** Makes the judge of a policy. */
export function createHostPolicy(options: EgressOptions): HostPolicy {
  const allow = parseHostRules('allow', options.allow);
  const isReachable = reachability(options, allow);
  const deny = parseHostRules('deny', options.deny);
  const only = options.allowOnly && parseHostRules('only', options.allowOnly);
  // Where the port is not known it may be any, so that what is denied at one is denied.
  const denyAtAnyPort = deny.map((rule): HostRule => ({ ...rule, port: undefined }));
  const deniedAt = (port: number | undefined) => (port === undefined ? denyAtAnyPort : deny);

  function address(text: string, target: ConnectionTarget): Denial | undefined {
    const address = parseIpAddress(text);
    if (!address) return { why: notPublic, hint: `${JSON.stringify(text)} is not an address.` };
    const every = [address, ...embeddedIpv4(address)];
    if (every.some((each) => matchesAddress(deniedAt(target.port), each, target.port)))
      return { why: notWanted, hint: `${text} is on the list \`deny\`.` };
    if (only && !matchesHost(only, target.host, target.port) && !matchesAddress(only, address, target.port))
      return { why: notWanted, hint: `${text} is not on the list \`only\`.` };
    if (isReachable(address, target)) return undefined;
    return { why: notPublic, hint: hintFor(text, classifyAddress(address)) };
  }

  function host(target: ConnectionTarget): Denial | undefined {
    const { host, port } = target;
    if (parseIpAddress(host)) return address(host, target);
    const kind = classifyHostName(host);
    if (kind === 'malformed') return { why: 'its host is not a name', hint: 'Correct the URL.' };
    if (matchesHost(deniedAt(port), host, port))
      return { why: notWanted, hint: `${host} is on the list \`deny\`.` };
    // If blocks are listed, the addresses of the name decide.
    if (only && !matchesHost(only, host, port) && !only.some((rule) => rule.block))
      return { why: notWanted, hint: `${host} is not on the list \`only\`.` };
    if (kind === 'public' || matchesHost(allow, host, port)) return undefined;
    const switched = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return switched ? undefined : { why: notPublic, hint: hintFor(host, kind) };
  }

  return {
    host,
    address,
    isOwnMachine({ host }) {
      const literal = parseIpAddress(host);
      const kind = literal ? classifyAddress(literal) : classifyHostName(host);
      return options.allowLoopback === true && kind === 'loopback';
    },
    isAllowedWithPort({ host, port }) {
      const literal = parseIpAddress(host);
      const exact = allow.filter((rule) => rule.port !== undefined);
      return literal ? matchesAddress(exact, literal, port) : matchesHost(exact, host, port);
    },
  };
}

/** Tells whether an address, and what is wrapped in it, is public or allowed all the same. */
function reachability(options: EgressOptions, allow: readonly HostRule[]) {
  return function isReachable(address: IpAddress, target: ConnectionTarget): boolean {
    const isNamed = matchesAddress(allow, address, target.port);
    // A block that is allowed does not speak for the addresses inside its addresses.
    if (isNamed) return embeddedIpv4(address).every((inner) => isReachable(inner, target));
    const kind = classifyAddress(address);
    if (kind === 'public') return true;
    if (kind === 'special') return false;
    const switched = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return switched === true || matchesHost(allow, target.host, target.port);
  };
}

function hintFor(what: string, kind: AddressKind): string {
  if (kind === 'loopback') return `${what} is this machine. Set \`allowLoopback\` for development.`;
  if (kind === 'private')
    return `${what} is private. Set \`allowPrivate\`, or put the host on the list \`allow\`.`;
  return `${what} is for special purposes. Put its address on the list \`allow\` if it is really meant.`;
}
