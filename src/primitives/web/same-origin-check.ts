import { parseUrl } from './parse-url.ts';

/** Options of {@link SameOriginCheck}. All options are optional. */
export interface SameOriginOptions {
  /** Host names under which clients reach the server, besides local names. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Public URL of the server: its host and origin are accepted. */
  readonly publicUrl?: string | undefined;
  /** Origins of web pages that may call the server, or `'*'` for all. */
  readonly origins?: '*' | readonly string[] | undefined;
}

/** Request headers by lower-case name. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

const isLoopbackIp = /^(?:::ffff:)?127\.|^::1$/i;
const ipLiteral = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/;

/**
 * Detects requests of web pages that do not belong to a server without authentication. Every page in a browser on the
 * same machine can send requests to a loopback server, also under a host name of its own that resolves to a loopback
 * address (DNS rebinding).
 */
export class SameOriginCheck {
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string> | '*';
  /** True if clients must use an allowed host name on every network interface. */
  readonly #checksAllHosts: boolean;
  /** The last `Host` that is accepted on all connections: most requests repeat it. */
  #lastHost: string | undefined = undefined;

  constructor({ allowedHosts = [], publicUrl, origins = [] }: SameOriginOptions = {}) {
    const url = publicUrl === undefined ? undefined : parseUrl(publicUrl);
    this.#hosts = new Set([
      ...allowedHosts.map((each) => each.toLowerCase()),
      ...(url ? [url.hostname] : []),
    ]);
    this.#origins = origins === '*' ? '*' : new Set([...origins, ...(url ? [url.origin] : [])]);
    this.#checksAllHosts = allowedHosts.length > 0;
  }

  /**
   * Returns why a request must be rejected, or undefined.
   *
   * @param connection - `localAddress` is the address of the server. It is read on demand.
   */
  problem(headers: Headers, connection: { readonly localAddress?: string | undefined }): string | undefined {
    const host = first(headers.host);
    // Browsers always send a host.
    if (host !== undefined && host !== this.#lastHost && !this.#acceptsHost(host, connection))
      return 'Host not accepted; see the option allowedHosts';
    const origin = first(headers.origin);
    if (origin !== undefined)
      return this.#acceptsOrigin(origin, host) ? undefined : 'Origin not accepted; see the option cors';
    const site = headers['sec-fetch-site'];
    if (site === undefined || site === 'same-origin' || site === 'none') return undefined;
    // A link on another site may be opened.
    return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
      ? undefined
      : 'Origin not accepted; see the option cors';
  }

  #acceptsHost(host: string, { localAddress }: { readonly localAddress?: string | undefined }): boolean {
    const name = hostName(host.toLowerCase());
    if (name !== undefined && (isLocalName(name) || this.#hosts.has(name))) {
      this.#lastHost = host;
      return true;
    }
    if (localAddress !== undefined && isLoopbackIp.test(localAddress)) return false;
    // An IP address cannot be rebound.
    return !this.#checksAllHosts || (name !== undefined && ipLiteral.test(name));
  }

  #acceptsOrigin(origin: string, host: string | undefined): boolean {
    if (this.#origins === '*' || this.#origins.has(origin)) return true;
    // The scheme is not compared: a proxy may terminate TLS.
    const at = origin.indexOf('://');
    return at > 0 && host !== undefined && origin.slice(at + 3) === host.toLowerCase();
  }
}

/** Returns true for names that browsers resolve to a loopback address without DNS. */
function isLocalName(name: string): boolean {
  return (
    name === 'localhost' ||
    name === '[::1]' ||
    name.endsWith('.localhost') ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}

/** Returns the name of a `Host` header without its port; undefined if it is malformed. */
function hostName(host: string): string | undefined {
  const end = host.startsWith('[') ? host.indexOf(']') + 1 : host.indexOf(':');
  if (end < 0) return host;
  return /^(?::\d{0,5})?$/.test(host.slice(end)) ? host.slice(0, end) : undefined;
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'object' ? value[0] : value;
}

/** Returns true for the media types of JSON. Browsers send them across origins only after a CORS preflight request. */
export function isJsonMediaType(type: string | undefined): boolean {
  return (
    type === 'application/json' ||
    (type !== undefined && /^application\/(?:[\w.-]+\+)?json(?:-rpc)?\s*(?:;|$)/i.test(type))
  );
}
