import type { SecureContextOptions } from 'node:tls';
import type { PortRange } from './rules/ports.ts';

/** Purpose of a request: webhooks and files, whose URLs are untrusted input, have stricter defaults. */
export type EgressPurpose = 'card' | 'call' | 'webhook' | 'file';

/** Returns all IP addresses of a host name. */
export type DnsResolver = (host: string) => Promise<readonly string[]>;

/** A denied request. For logs only: must not be sent to peers. */
export interface EgressDenial {
  /** URL, or host and port if the URL is unknown. */
  target: string;
  /** IP address, if the name was resolved. */
  address?: string;
  /** Explanation for the operator. */
  reason: string;
}

/** Options of {@link egressPolicy}. By default only the public internet is allowed (SSRF protection). */
export interface EgressOptions {
  /**
   * Allows the local host by address and by the name `localhost`, with `http:` and all ports. For development.
   * @defaultValue false
   */
  allowLoopback?: boolean;
  /**
   * Allows private networks and names without a public domain. Cloud metadata services remain denied.
   * @defaultValue false
   */
  allowPrivate?: boolean;
  /**
   * Exceptions for non-public targets: hosts, `*.example.com`, addresses, blocks such as `10.0.0.0/8`, and with a port
   * `host:8080`. A host listed here may resolve to loopback and private addresses; a block allows all its addresses.
   */
  allow?: readonly string[];
  /** Denied targets, in the same format. Takes precedence over all options that allow targets. */
  deny?: readonly string[];
  /** Denies all other targets; same format. Does not allow non-public targets. */
  allowOnly?: readonly string[];
  /** Allowed ports. @defaultValue all for cards and calls; ports of web servers for webhooks and files */
  ports?: readonly PortRange[];
  /** Allowed schemes. @defaultValue both for cards and calls; `https` for webhooks and files */
  schemes?: readonly ('http' | 'https')[];
  /** Maximum number of redirects. @defaultValue 0 for webhooks, else 3 */
  maxRedirects?: number;
  /** Maximum size of a response, in bytes. @defaultValue 10 MiB */
  maxBytes?: number;
  /** Milliseconds for the whole request, including redirects. @defaultValue 15 000 */
  timeout?: number;
  /** Milliseconds for a connection: DNS, TCP and TLS. @defaultValue 5000 */
  connectTimeout?: number;
  /** Trusted certificate authorities and client certificate. */
  tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;
  /** @defaultValue the system resolver */
  resolve?: DnsResolver;
  /** Called with every IP address before it is connected to. */
  onConnect?: (address: string, origin: string) => void;
  /** Called for every denied request. */
  onDenied?: (denial: EgressDenial) => void;
}
