import type { Agent } from 'node:http';
import type { LookupFunction } from 'node:net';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { createConnectionAgents } from './connection-agents.ts';
import { createHostPolicy, type ConnectionTarget, type Denial } from './rules/host-policy.ts';
import { createCheckedLookup, systemDnsResolver } from './dns-lookup.ts';
import type { EgressOptions, EgressPurpose } from './egress-options.ts';
import { isPortInRanges, isWebPort } from './rules/ports.ts';
import { stripBrackets, stripTrailingDot } from './rules/host-rules.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** Limits of a request. */
export interface EgressLimits {
  readonly maxBytes: number;
  /** In milliseconds, as `connectTimeout`. */
  readonly timeout: number;
  readonly connectTimeout: number;
}

/** Decides which URLs supplied by peers may be fetched, and opens only allowed connections (SSRF protection). */
export interface EgressPolicy {
  /**
   * Checks a URL without resolving its name; {@link EgressPolicy.lookup} checks the addresses.
   *
   * @param purpose - `call` by default.
   * @returns a copy of the URL without a trailing dot of the host
   * @throws {@link A2AError} `PERMISSION_DENIED` with the relevant option in its hint
   */
  check(url: string | URL, purpose?: EgressPurpose): URL;
  /**
   * Checks an IP address of a host.
   *
   * @throws {@link A2AError} `PERMISSION_DENIED`
   */
  checkAddress(address: string, host: string, port?: number): void;
  /**
   * Resolves names for sockets and rejects names with a denied address. Sockets do not call it for IP addresses, so
   * call {@link EgressPolicy.check} first. Exceptions with a port do not apply.
   */
  readonly lookup: LookupFunction;
  /** Same as `lookup` for a known port; exceptions with this port apply. */
  lookupFor(port: number): LookupFunction;
  /** Returns the `node:http` or `node:https` agent for a URL. It opens only allowed connections. */
  agentFor(url: URL): Agent;
  readonly limits: EgressLimits;
  /** Options for connections that are opened elsewhere with {@link EgressPolicy.lookupFor}. */
  readonly connecting: Readonly<Pick<EgressOptions, 'tls' | 'onConnect'>>;
  /** Returns the maximum number of redirects. */
  redirectsFor(purpose: EgressPurpose): number;
  /** Closes all connections. The policy remains usable. */
  close(): void;
}

/** Creates the policy for URLs supplied by peers: cards, calls, webhooks and files. */
export function egressPolicy(options: EgressOptions = {}): EgressPolicy {
  const hostPolicy = createHostPolicy(options);
  const limits = resolveLimits(options);

  function deny(target: string, denial: Denial, address?: string): never {
    options.onDenied?.({ target, address, reason: denial.hint });
    const { reason, hint } = denial;
    throw new A2AError('PERMISSION_DENIED', `Access to ${target} denied: ${reason}`, { hint });
  }

  function checkAddress(address: string, host: string, port?: number): void {
    const target = targetOf(host, port);
    const denial = hostPolicy.address(address, target);
    if (denial) deny(formatTarget(target), denial, address);
  }

  function check(input: string | URL, purpose: EgressPurpose = 'call'): URL {
    // A copy: the checked URL must not change.
    const url = parseUrl(String(input));
    if (!url) deny('the URL', { reason: 'malformed URL', hint: 'Fix the URL.' });
    const denial = checkScheme(url) ?? checkHost(url, purpose);
    if (denial) deny(`${url.protocol}//${url.host}`, denial);
    url.hostname = stripTrailingDot(url.hostname);
    return url;
  }

  function checkHost(url: URL, purpose: EgressPurpose): Denial | undefined {
    const target = targetOf(url.hostname, portOf(url));
    const denial = hostPolicy.host(target);
    if (denial || hostPolicy.isAllowedLoopback(target)) return denial;
    return checkPurpose(url, purpose, hostPolicy.isAllowedWithPort(target), options);
  }

  const lookupFor = (port?: number): LookupFunction =>
    createCheckedLookup(options.resolve ?? systemDnsResolver, (host, address) => {
      if (address !== undefined) return checkAddress(address, host, port);
      const target = targetOf(host, port);
      const denial = hostPolicy.host(target);
      if (denial) deny(formatTarget(target), denial);
    });

  const { connectTimeout } = limits;
  const { tls, onConnect } = options;
  const agents = createConnectionAgents({
    tls,
    onConnect,
    connectTimeout,
    lookupFor,
    checkAddress,
  });
  return {
    check,
    checkAddress,
    lookup: lookupFor(),
    lookupFor,
    agentFor: (url) => agents.for(url),
    limits,
    connecting: { tls, onConnect },
    redirectsFor: (purpose) => options.maxRedirects ?? (purpose === 'webhook' ? 0 : 3),
    close: () => agents.close(),
  };
}

/** Restrictions that no option lifts. */
function checkScheme(url: URL): Denial | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { reason: 'unsupported scheme', hint: 'Use an http or https URL.' };
  if (url.username !== '' || url.password !== '')
    return { reason: 'the URL contains credentials', hint: 'Send credentials in a header.' };
  return undefined;
}

function checkPurpose(
  url: URL,
  purpose: EgressPurpose,
  isPortAllowed: boolean,
  { schemes, ports }: EgressOptions,
): Denial | undefined {
  const isStrict = purpose === 'webhook' || purpose === 'file';
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  if (!(schemes ?? (isStrict ? ['https'] : ['https', 'http'])).includes(scheme))
    return { reason: `scheme ${scheme}`, hint: `Add '${scheme}' to \`schemes\`.` };
  const port = portOf(url);
  if (isPortAllowed || (ports ? isPortInRanges(port, ports) : !isStrict || isWebPort(port))) return undefined;
  return {
    reason: `port ${port}`,
    hint: `Add ${port} to \`ports\`, or host:${port} to \`allow\`.`,
  };
}

function resolveLimits(options: EgressOptions): EgressLimits {
  const { maxBytes = 10 * 1024 * 1024, timeout = 15_000, connectTimeout = 5000, maxRedirects = 0 } = options;
  const limits = { maxBytes, timeout, connectTimeout };
  for (const [name, value] of Object.entries({ ...limits, maxRedirects })) {
    if (!(Number.isFinite(value) && value >= 0)) throw invalidField(name, 'must be at least 0');
  }
  return limits;
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

function targetOf(host: string, port?: number): ConnectionTarget {
  return { host: stripTrailingDot(stripBrackets(host)).toLowerCase(), port };
}

function formatTarget({ host, port }: ConnectionTarget): string {
  const literal = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? literal : `${literal}:${port}`;
}
