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

/** Host and port of a connection. */
export interface ConnectionTarget {
  /** Name or IP address in lower case, without brackets. */
  host: string;
  /** Undefined if only a name is resolved. */
  port?: number;
}

/** Why a target is denied. */
export interface Denial {
  /** For the peer; does not reveal addresses. */
  reason: string;
  /** For the operator, with the relevant option. */
  hint: string;
}

/** Checks hosts and addresses; `undefined` means allowed. */
export interface HostPolicy {
  host(target: ConnectionTarget): Denial | undefined;
  address(text: string, target: ConnectionTarget): Denial | undefined;
  /** Returns true if the target is the local host and `allowLoopback` is set. */
  isAllowedLoopback(target: ConnectionTarget): boolean;
  /** Returns true if an exception names the target with its port. */
  isAllowedWithPort(target: ConnectionTarget): boolean;
}

const notPublic = 'host is not on the public internet';
const notAllowed = 'host is not allowed';

/** Creates the host rules of a policy. */
export function createHostPolicy(options: EgressOptions): HostPolicy {
  const allow = parseHostRules('allow', options.allow);
  const isReachable = createReachability(options, allow);
  const deny = parseHostRules('deny', options.deny);
  const allowOnly = options.allowOnly && parseHostRules('allowOnly', options.allowOnly);
  // An unknown port may be any port, so a host denied at one port is denied.
  const denyAtAnyPort = deny.map((rule): HostRule => ({ ...rule, port: undefined }));
  const deniedAt = (port: number | undefined) => (port === undefined ? denyAtAnyPort : deny);

  function address(text: string, target: ConnectionTarget): Denial | undefined {
    const address = parseIpAddress(text);
    if (!address) return { reason: notPublic, hint: `${JSON.stringify(text)} is not an IP address.` };
    const addresses = [address, ...embeddedIpv4(address)];
    if (addresses.some((each) => matchesAddress(deniedAt(target.port), each, target.port)))
      return { reason: notAllowed, hint: `${text} is listed in \`deny\`.` };
    if (
      allowOnly &&
      !matchesHost(allowOnly, target.host, target.port) &&
      !matchesAddress(allowOnly, address, target.port)
    )
      return { reason: notAllowed, hint: `${text} is not listed in \`allowOnly\`.` };
    if (isReachable(address, target)) return undefined;
    return { reason: notPublic, hint: hintFor(text, classifyAddress(address)) };
  }

  function host(target: ConnectionTarget): Denial | undefined {
    const { host, port } = target;
    if (parseIpAddress(host)) return address(host, target);
    const kind = classifyHostName(host);
    if (kind === 'malformed') return { reason: 'invalid host name', hint: 'Fix the URL.' };
    if (matchesHost(deniedAt(port), host, port))
      return { reason: notAllowed, hint: `${host} is listed in \`deny\`.` };
    // If blocks are listed, the resolved addresses decide.
    if (allowOnly && !matchesHost(allowOnly, host, port) && !allowOnly.some((rule) => rule.block))
      return { reason: notAllowed, hint: `${host} is not listed in \`allowOnly\`.` };
    if (kind === 'public' || matchesHost(allow, host, port)) return undefined;
    const isEnabled = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return isEnabled ? undefined : { reason: notPublic, hint: hintFor(host, kind) };
  }

  return {
    host,
    address,
    isAllowedLoopback({ host }) {
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

/** Creates a test whether an address, including embedded IPv4 addresses, is public or allowed. */
function createReachability(options: EgressOptions, allow: readonly HostRule[]) {
  return function isReachable(address: IpAddress, target: ConnectionTarget): boolean {
    const isListed = matchesAddress(allow, address, target.port);
    // An allowed IPv6 block does not allow the IPv4 addresses embedded in its addresses.
    if (isListed) return embeddedIpv4(address).every((inner) => isReachable(inner, target));
    const kind = classifyAddress(address);
    if (kind === 'public') return true;
    if (kind === 'special') return false;
    const isEnabled = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return isEnabled === true || matchesHost(allow, target.host, target.port);
  };
}

function hintFor(target: string, kind: AddressKind): string {
  if (kind === 'loopback') return `${target} is the local host. Set \`allowLoopback\` for development.`;
  if (kind === 'private') return `${target} is private. Set \`allowPrivate\`, or add the host to \`allow\`.`;
  return `${target} is a special-purpose address. Add it to \`allow\` if it is intended.`;
}
