import { type Address, type AddressKind, kindOf, parseAddress, wrappedIn } from './ip-address.ts';
import { kindOfName } from './host-names.ts';
import type { EgressOptions } from '../egress-options.ts';
import { namesAddress, namesHost, readRules, type Rule } from './host-rules.ts';

/** Who is to be connected to. */
export interface Target {
  /** A name or an address, without brackets and in lower case. */
  host: string;
  /** Not known when only a name is looked up. */
  port?: number;
}

/** Why something is refused. */
export interface Verdict {
  /** For the peer, which learns nothing about addresses. */
  why: string;
  /** For the person in charge, with the option to set. */
  hint: string;
}

/** Decides about hosts and addresses; `undefined` is consent. */
export interface Judge {
  host(target: Target): Verdict | undefined;
  address(text: string, target: Target): Verdict | undefined;
  /** Says whether the target is this machine and may be. */
  isOwnMachine(target: Target): boolean;
  /** Says whether the list of exceptions names the target together with its port. */
  isAllowedWithPort(target: Target): boolean;
}

const notPublic = 'its host is not on the public internet';
const notWanted = 'its host is not wanted here';

/** Makes the judge of a policy. */
export function judgeOf(options: EgressOptions): Judge {
  const allow = readRules('allow', options.allow);
  const isReachable = reachability(options, allow);
  const deny = readRules('deny', options.deny);
  const only = options.only && readRules('only', options.only);
  // Where the port is not known it may be any, so that what is denied at one is denied.
  const denyAtAnyPort = deny.map((rule): Rule => ({ ...rule, port: undefined }));
  const deniedAt = (port: number | undefined) => (port === undefined ? denyAtAnyPort : deny);

  function address(text: string, target: Target): Verdict | undefined {
    const address = parseAddress(text);
    if (!address) return { why: notPublic, hint: `${JSON.stringify(text)} is not an address.` };
    const every = [address, ...wrappedIn(address)];
    if (every.some((each) => namesAddress(deniedAt(target.port), each, target.port)))
      return { why: notWanted, hint: `${text} is on the list \`deny\`.` };
    if (only && !namesHost(only, target.host, target.port) && !namesAddress(only, address, target.port))
      return { why: notWanted, hint: `${text} is not on the list \`only\`.` };
    if (isReachable(address, target)) return undefined;
    return { why: notPublic, hint: hintFor(text, kindOf(address)) };
  }

  function host(target: Target): Verdict | undefined {
    const { host, port } = target;
    if (parseAddress(host)) return address(host, target);
    const kind = kindOfName(host);
    if (kind === 'malformed') return { why: 'its host is not a name', hint: 'Correct the URL.' };
    if (namesHost(deniedAt(port), host, port))
      return { why: notWanted, hint: `${host} is on the list \`deny\`.` };
    // If blocks are listed, the addresses of the name decide.
    if (only && !namesHost(only, host, port) && !only.some((rule) => rule.block))
      return { why: notWanted, hint: `${host} is not on the list \`only\`.` };
    if (kind === 'public' || namesHost(allow, host, port)) return undefined;
    const switched = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return switched ? undefined : { why: notPublic, hint: hintFor(host, kind) };
  }

  return {
    host,
    address,
    isOwnMachine({ host }) {
      const literal = parseAddress(host);
      const kind = literal ? kindOf(literal) : kindOfName(host);
      return options.allowLoopback === true && kind === 'loopback';
    },
    isAllowedWithPort({ host, port }) {
      const literal = parseAddress(host);
      const exact = allow.filter((rule) => rule.port !== undefined);
      return literal ? namesAddress(exact, literal, port) : namesHost(exact, host, port);
    },
  };
}

/** Tells whether an address, and what is wrapped in it, is public or allowed all the same. */
function reachability(options: EgressOptions, allow: readonly Rule[]) {
  return function isReachable(address: Address, target: Target): boolean {
    const isNamed = namesAddress(allow, address, target.port);
    // A block that is allowed does not speak for the addresses inside its addresses.
    if (isNamed) return wrappedIn(address).every((inner) => isReachable(inner, target));
    const kind = kindOf(address);
    if (kind === 'public') return true;
    if (kind === 'special') return false;
    const switched = kind === 'loopback' ? options.allowLoopback : options.allowPrivate;
    return switched === true || namesHost(allow, target.host, target.port);
  };
}

function hintFor(what: string, kind: AddressKind): string {
  if (kind === 'loopback') return `${what} is this machine. Set \`allowLoopback\` for development.`;
  if (kind === 'private')
    return `${what} is private. Set \`allowPrivate\`, or put the host on the list \`allow\`.`;
  return `${what} is for special purposes. Put its address on the list \`allow\` if it is really meant.`;
}
