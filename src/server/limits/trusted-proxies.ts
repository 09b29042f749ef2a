import { IpRange, isIpAddress } from '../../primitives/ip-range.ts';
import { invalidField } from '../../protocol/errors.ts';
import { type HttpServerRequest, singleHeader } from '../http/http-message.ts';

/** Finds the address of a client behind trusted proxies. */
export class TrustedProxies {
  readonly #ranges: readonly IpRange[];

  /** @throws A2AError `INVALID_PARAMS` if an entry is not an IP address or CIDR block. */
  constructor(addresses: readonly string[]) {
    this.#ranges = addresses.map((each) => {
      const range = IpRange.parse(each);
      if (!range) throw invalidField('trustProxy', `must contain IP addresses or CIDR blocks, not "${each}"`);
      return range;
    });
  }

  /** Returns true if forwarding headers of a peer are used. */
  trusts(address: string | undefined): boolean {
    return address !== undefined && this.#ranges.some((range) => range.contains(address));
  }

  /**
   * Returns the right-most address in `X-Forwarded-For` or `Forwarded` that is not a trusted proxy: entries further left
   * are written by the client. A proxy sets one of both headers; if they disagree, the client wrote one of them, and the
   * address of the proxy is returned.
   */
  clientAddress({
    remoteAddress,
    headers,
  }: Pick<HttpServerRequest, 'remoteAddress' | 'headers'>): string | undefined {
    if (remoteAddress === undefined || !this.trusts(remoteAddress)) return remoteAddress;
    const [first = remoteAddress, second = first] = [
      singleHeader(headers, 'x-forwarded-for')?.split(','),
      singleHeader(headers, 'forwarded')?.split(',').map(forwardedFor),
    ].flatMap((hops) => (hops ? [this.#lastUntrusted(hops, remoteAddress)] : []));
    return first === second ? first : remoteAddress;
  }

  #lastUntrusted(hops: readonly string[], peer: string): string {
    let nearest = peer;
    for (let i = hops.length - 1; i >= 0; i--) {
      const address = withoutPort(hops[i] ?? '');
      if (!isIpAddress(address)) return nearest;
      nearest = address;
      if (!this.trusts(address)) return address;
    }
    return nearest;
  }
}

/** Returns the `for` parameter of an element of `Forwarded`. */
function forwardedFor(element: string): string {
  const [, quoted, plain = ''] = /(?:^|;)\s*for=(?:"([^"]*)"|([^;\s]*))/i.exec(element) ?? [];
  return quoted ?? plain;
}

function withoutPort(hop: string): string {
  const text = hop.trim();
  const [, ipv6] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? [];
  if (ipv6 !== undefined) return ipv6;
  return text.replace(/^(\d[\d.]*):\d+$/, '$1');
}
