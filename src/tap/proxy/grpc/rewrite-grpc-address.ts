import { parseGrpcAddress } from '../../../client/discovery/grpc-address.ts';
import { isLocalHost } from '../../../primitives/loopback.ts';

/** Version of a gRPC service: there is one for 1.0, and one for 0.3 and 0.2. */
export type GrpcServiceVersion = '1.0' | '0.3';

/** Origins of the gRPC servers of an agent, by the version of their service. */
export type GrpcAddresses = ReadonlyMap<GrpcServiceVersion, string>;

/** Result of {@link GrpcAddressRewriter.rewrite}. */
interface RewrittenAddress {
  readonly written: string;
  /** Set if the address is not replaced, so that its traffic bypasses the tap. */
  readonly otherOrigin?: string;
}

/**
 * Replaces the addresses of gRPC interfaces by the tap. A call tells only its service, so that the tap can proxy one
 * address of each version. A remote agent cannot direct the tap to the local host.
 */
export class GrpcAddressRewriter {
  readonly addresses = new Map<GrpcServiceVersion, string>();
  readonly #target: URL;
  readonly #tap: URL;

  constructor(target: URL, tap: string) {
    this.#target = target;
    this.#tap = new URL(tap);
  }

  /** @param version - protocol version of the interface */
  rewrite(address: string, version: string): RewrittenAddress {
    const upstream = parseGrpcAddress(address, this.#target.href);
    if (!upstream) return { written: address };
    const key = version.startsWith('1') ? '1.0' : '0.3';
    const known = this.addresses.get(key);
    const isMisdirected = isLocalHost(upstream.hostname) && !isLocalHost(this.#target.hostname);
    if (isMisdirected || (known !== undefined && known !== upstream.origin))
      return { written: address, otherOrigin: upstream.origin };
    this.addresses.set(key, upstream.origin);
    return { written: this.#inFormOf(address) };
  }

  /** Returns the address of the tap with the same kind of scheme, or none. The tap does not use TLS. */
  #inFormOf(address: string): string {
    const { hostname, port } = this.#tap;
    const [, scheme = ''] = /^\s*(dns:(?:\/\/[^/]*\/)?|[a-z]+:\/\/)/i.exec(address) ?? [];
    const host = `${hostname}:${port === '' ? 80 : port}`;
    if (scheme === '' || scheme.toLowerCase().startsWith('dns:')) return scheme + host;
    return `${scheme.toLowerCase().startsWith('grpc') ? 'grpc' : 'http'}://${host}`;
  }
}
