import ipaddr from 'ipaddr.js';
import { invalidField } from '../../protocol/errors.ts';
import { type IpAddress, type CidrBlock, isInBlock, parseIpAddress } from './ip-address.ts';

/** One entry of a list: hosts or addresses, at one port or at all. */
export interface HostRule {
  /** A name; with a leading dot all names below it. */
  host?: string;
  block?: CidrBlock;
  port?: number;
}

/**
 * Reads a list of hosts: `hooks.example.com`, `*.example.com`, `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`, and any of them
 * but blocks with a port, `hooks.example.com:8080` or `[fd00::7]:8080`.
 *
 * @param field - The name of the option, for the error.
 * @throws {@link A2AError} `INVALID_PARAMS` for an entry that says none of these.
 */
export function parseHostRules(field: string, entries: readonly string[] = []): readonly HostRule[] {
  return entries.map((entry, index) => {
    const rule = readRule(entry.trim());
    if (rule) return rule;
    throw invalidField(
      `${field}[${index}]`,
      'must be a host, *.host, an address or a block, such as 10.0.0.0/8',
    );
  });
}

function readRule(entry: string): HostRule | undefined {
  if (entry.includes('/')) {
    // The library also reads 10/8, of which nobody knows what is meant.
    if (!parseIpAddress(entry.slice(0, entry.indexOf('/'))) || !ipaddr.isValidCIDR(entry)) return undefined;
    return { block: ipaddr.parseCIDR(entry) };
  }
  const whole = parseIpAddress(entry);
  if (whole) return { block: only(whole) };
  const [, target = '', digits] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const address = parseIpAddress(stripBrackets(target));
  if (address) return { block: only(address), port };
  const isBelow = target.startsWith('*.');
  const host = readHost(isBelow ? target.slice(2) : target);
  return host === undefined ? undefined : { host: isBelow ? `.${host}` : host, port };
}

function only(address: IpAddress): CidrBlock {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** The name as a URL would have it, so that both compare. */
function readHost(text: string): string | undefined {
  if (!/^[^\s/?#@:*\\[\]%]+$/.test(text) || !URL.canParse(`http://${text}/`)) return undefined;
  return stripTrailingDot(new URL(`http://${text}/`).hostname);
}

/** A host of a URL without the brackets of IPv6. */
export function stripBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** A name without the dot that ends an absolute one. */
export function stripTrailingDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** Says whether a rule names this host. A port that is not known matches no rule that asks for one. */
export function matchesHost(rules: readonly HostRule[], host: string, port: number | undefined): boolean {
  return rules.some((rule) => {
    if (rule.host === undefined || (rule.port !== undefined && rule.port !== port)) return false;
    return rule.host.startsWith('.') ? host.endsWith(rule.host) : host === rule.host;
  });
}

/** Says whether a rule names this address. A port that is not known matches no rule that asks for one. */
export function matchesAddress(
  rules: readonly HostRule[],
  address: IpAddress,
  port: number | undefined,
): boolean {
  return rules.some(
    (rule) =>
      rule.block !== undefined &&
      (rule.port === undefined || rule.port === port) &&
      isInBlock(address, rule.block),
  );
}
