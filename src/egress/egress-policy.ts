import type { Agent } from 'node:http';
import type { LookupFunction } from 'node:net';
import { A2AError, invalidField } from '../protocol/errors.ts';
import { createConnectionAgents } from './connection-agents.ts';
import { createHostPolicy, type ConnectionTarget, type Denial } from './rules/host-policy.ts';
import { createCheckedLookup, systemDnsResolver } from './dns-lookup.ts';
import type { EgressOptions, EgressPurpose } from './egress-options.ts';
import { isPortInRanges, isWebPort } from './rules/ports.ts';
import { stripBrackets, stripTrailingDot } from './rules/host-rules.ts';

/** How much a fetch may take. */
export interface EgressLimits {
  readonly maxBytes: number;
  /** In milliseconds, like the next. */
  readonly timeout: number;
  readonly connectTimeout: number;
}

/** Decides what may be fetched because a peer said so, and makes connections that keep to it. */
export interface EgressPolicy {
  /**
   * Checks a URL before it is used, or kept for later use. Names are not resolved; {@link EgressPolicy.lookup} does.
   *
   * @param purpose - `call` unless told.
   * @returns the URL to use, without the dot at the end of its host.
   * @throws {@link A2AError} `PERMISSION_DENIED`, with the option to set in its hint.
   */
  check(url: string | URL, purpose?: EgressPurpose): URL;
  /**
   * Checks one address that a host led to.
   *
   * @throws {@link A2AError} `PERMISSION_DENIED`.
   */
  checkAddress(address: string, host: string, port?: number): void;
  /**
   * Resolves names for sockets and refuses those with a forbidden address. Sockets never ask it about addresses, so
   * {@link EgressPolicy.check} comes first. Exceptions that name a port do not count here.
   */
  readonly lookup: LookupFunction;
  /** The same for a known port, for which exceptions that name it count. */
  lookupFor(port: number): LookupFunction;
  /** The agent of `node:http` or `node:https` for a URL. It makes only connections that are allowed. */
  agentFor(url: URL): Agent;
  readonly limits: EgressLimits;
  /** What connections that others make need to know beside {@link EgressPolicy.lookupFor}. */
  readonly connecting: Readonly<Pick<EgressOptions, 'tls' | 'onConnect'>>;
  /** How many redirects are followed. */
  redirectsFor(purpose: EgressPurpose): number;
  /** Ends all connections. The policy stays usable and opens new ones. */
  close(): void;
}

/** Makes the policy for everything that is fetched because a peer said so: cards, calls, webhooks and files. */
export function egressPolicy(options: EgressOptions = {}): EgressPolicy {
  const judge = createHostPolicy(options);
  const limits = limitsOf(options);

  function refuse(target: string, verdict: Denial, address?: string): never {
    options.onDenied?.({ target, address, why: verdict.hint });
    const { why, hint } = verdict;
    throw new A2AError('PERMISSION_DENIED', `${target} may not be used: ${why}`, { hint });
  }

  function checkAddress(address: string, host: string, port?: number): void {
    const target = targetOf(host, port);
    const verdict = judge.address(address, target);
    if (verdict) refuse(written(target), verdict, address);
  }

  function check(given: string | URL, purpose: EgressPurpose = 'call'): URL {
    // Also a copy, so that what was checked cannot change.
    const url = URL.canParse(String(given)) ? new URL(String(given)) : undefined;
    if (!url) refuse('The URL', { why: 'it cannot be read', hint: 'Correct the URL.' });
    const verdict = verdictOnScheme(url) ?? verdictOnHost(url, purpose);
    if (verdict) refuse(`${url.protocol}//${url.host}`, verdict);
    url.hostname = stripTrailingDot(url.hostname);
    return url;
  }

  function verdictOnHost(url: URL, purpose: EgressPurpose): Denial | undefined {
    const target = targetOf(url.hostname, portOf(url));
    const verdict = judge.host(target);
    if (verdict || judge.isOwnMachine(target)) return verdict;
    return verdictOnPurpose(url, purpose, judge.isAllowedWithPort(target), options);
  }

  const lookupAt = (port?: number): LookupFunction =>
    createCheckedLookup(options.resolve ?? systemDnsResolver, (host, address) => {
      if (address !== undefined) return checkAddress(address, host, port);
      const target = targetOf(host, port);
      const verdict = judge.host(target);
      if (verdict) refuse(written(target), verdict);
    });

  const { connectTimeout } = limits;
  const { tls, onConnect } = options;
  const agents = createConnectionAgents({
    tls,
    onConnect,
    connectTimeout,
    lookupFor: lookupAt,
    checkAddress,
  });
  return {
    check,
    checkAddress,
    lookup: lookupAt(),
    lookupFor: lookupAt,
    agentFor: (url) => agents.for(url),
    limits,
    connecting: { tls, onConnect },
    redirectsFor: (purpose) => options.maxRedirects ?? (purpose === 'webhook' ? 0 : 3),
    close: () => agents.close(),
  };
}

/** What no policy permits, whoever is meant. */
function verdictOnScheme(url: URL): Denial | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return { why: 'its scheme is neither https nor http', hint: 'Nothing else can be fetched.' };
  if (url.username !== '' || url.password !== '')
    return { why: 'it carries credentials', hint: 'Credentials belong into a header.' };
  return undefined;
}

function verdictOnPurpose(
  url: URL,
  purpose: EgressPurpose,
  isPortAllowed: boolean,
  { schemes, ports }: EgressOptions,
): Denial | undefined {
  const isStrict = purpose === 'webhook' || purpose === 'file';
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  if (!(schemes ?? (isStrict ? ['https'] : ['https', 'http'])).includes(scheme))
    return { why: `its scheme is ${scheme}`, hint: `Put '${scheme}' on the list \`schemes\`.` };
  const port = portOf(url);
  if (isPortAllowed || (ports ? isPortInRanges(port, ports) : !isStrict || isWebPort(port))) return undefined;
  return {
    why: `its port is ${port}`,
    hint: `Put ${port} on the list \`ports\`, or host:${port} on \`allow\`.`,
  };
}

function limitsOf(options: EgressOptions): EgressLimits {
  const { maxBytes = 10 * 1024 * 1024, timeout = 15_000, connectTimeout = 5000, maxRedirects = 0 } = options;
  const limits = { maxBytes, timeout, connectTimeout };
  for (const [name, value] of Object.entries({ ...limits, maxRedirects })) {
    if (!(Number.isFinite(value) && value >= 0)) throw invalidField(name, 'must be a number of at least 0');
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

function written({ host, port }: ConnectionTarget): string {
  const shown = host.includes(':') ? `[${host}]` : host;
  return port === undefined ? shown : `${shown}:${port}`;
}
