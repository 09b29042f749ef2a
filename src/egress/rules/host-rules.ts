import ipaddr from 'ipaddr.js';
import { invalidField } from '../../protocol/errors.ts';
import { type IpAddress, type CidrBlock, isInBlock, parseIpAddress } from './ip-address.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Hosts or addresses, with one port or all ports. */
export interface HostRule {
  /** Host name; a leading dot matches all subdomains. */
  host?: string;
  block?: CidrBlock;
  port?: number;
}

/**
 * Parses a list of hosts: `hooks.example.com`, `*.example.com`, `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`, and all of them
 * except blocks with a port, `hooks.example.com:8080` or `[fd00::7]:8080`.
 *
 * @param field - name of the option in errors.
 * @throws {@link A2AError} `INVALID_PARAMS` for other entries
 */
export function parseHostRules(field: string, entries: readonly string[] = []): readonly HostRule[] {
  return entries.map((entry, index) => {
    const rule = parseRule(entry.trim());
    if (rule) return rule;
    throw invalidField(
      `${field}[${index}]`,
      'must be a host, *.host, an IP address or a block such as 10.0.0.0/8',
    );
  });
}

function parseRule(entry: string): HostRule | undefined {
  if (entry.includes('/')) {
    // The library also accepts 10/8, which is ambiguous.
    if (!parseIpAddress(entry.slice(0, entry.indexOf('/'))) || !ipaddr.isValidCIDR(entry)) return undefined;
    return { block: ipaddr.parseCIDR(entry) };
  }
  const literal = parseIpAddress(entry);
  if (literal) return { block: singleAddress(literal) };
  const [, target = '', digits] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  const address = parseIpAddress(stripBrackets(target));
  if (address) return { block: singleAddress(address), port };
  const isWildcard = target.startsWith('*.');
  const host = normalizeHost(isWildcard ? target.slice(2) : target);
  return host === undefined ? undefined : { host: isWildcard ? `.${host}` : host, port };
}

function singleAddress(address: IpAddress): CidrBlock {
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

/** Returns the name in the notation of `URL.hostname`. */
function normalizeHost(text: string): string | undefined {
  const url = /^[^\s/?#@:*\\[\]%]+$/.test(text) ? parseUrl(`http://${text}/`) : undefined;
  return url && stripTrailingDot(url.hostname);
}

/** Removes the brackets of an IPv6 host. */
export function stripBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
}

/** Removes the trailing dot of a fully qualified name. */
export function stripTrailingDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** Returns true if a rule matches the host. An unknown port does not match rules with a port. */
export function matchesHost(rules: readonly HostRule[], host: string, port: number | undefined): boolean {
  return rules.some((rule) => {
    if (rule.host === undefined || (rule.port !== undefined && rule.port !== port)) return false;
    return rule.host.startsWith('.') ? host.endsWith(rule.host) : host === rule.host;
  });
}

/** Returns true if a rule matches the address. An unknown port does not match rules with a port. */
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
