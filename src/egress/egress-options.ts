import type { SecureContextOptions } from 'node:tls';
import type { PortRange } from './rules/ports.ts';

/** Why something is fetched: rules differ between an agent one chose and a URL that a stranger gave. */
export type EgressPurpose = 'card' | 'call' | 'webhook' | 'file';

/** Finds all addresses of a name. */
export type DnsResolver = (host: string) => Promise<readonly string[]>;

/** Something that was not fetched. For logs: the peer must not see it. */
export interface EgressDenial {
  /** The URL, or only its host and port if the URL is not known. */
  target: string;
  /** The address, if it came that far. */
  address?: string;
  /** What is wrong, for people. */
  why: string;
}

/** What may be fetched. Everything has a default, and the default is the public internet. */
export interface EgressOptions {
  /**
   * Allows this machine, by address and by the name `localhost`, with `http:` and at all ports. For development.
   * @defaultValue false
   */
  allowLoopback?: boolean;
  /**
   * Allows private networks and names without a public domain. The metadata services of clouds stay forbidden.
   * @defaultValue false
   */
  allowPrivate?: boolean;
  /**
   * Allows what is not public: hosts, `*.example.com`, addresses, blocks such as `10.0.0.0/8`, and with a port
   * `host:8080`. A host named here may lead to this machine and to private networks, a block to whatever is in it.
   */
  allow?: readonly string[];
  /** Forbids, in the same words, and is stronger than all that allows. */
  deny?: readonly string[];
  /** Forbids everything else, in the same words. It allows nothing that is not public. */
  allowOnly?: readonly string[];
  /**
   * The ports to use.
   * @defaultValue all for cards and calls; those of web servers for webhooks and files
   */
  ports?: readonly PortRange[];
  /**
   * The schemes to use.
   * @defaultValue both for cards and calls; `https` for webhooks and files
   */
  schemes?: readonly ('http' | 'https')[];
  /**
   * How many redirects are followed.
   * @defaultValue 0 for webhooks and 3 for the others
   */
  maxRedirects?: number;
  /**
   * How large an answer may be, in bytes.
   * @defaultValue 10 MiB
   */
  maxBytes?: number;
  /**
   * Milliseconds for everything, redirects included.
   * @defaultValue 15 000
   */
  timeout?: number;
  /**
   * Milliseconds for a connection: name, address and TLS.
   * @defaultValue 5000
   */
  connectTimeout?: number;
  /** Certificates to trust and to show. */
  tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'>;
  /** Finds all addresses of a name, instead of the system. */
  resolve?: DnsResolver;
  /** Told about every address before it is connected to. */
  onConnect?: (address: string, origin: string) => void;
  /** Told about everything that is refused. */
  onDenied?: (refusal: EgressDenial) => void;
}
