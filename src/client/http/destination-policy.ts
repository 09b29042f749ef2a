import type { EgressOptions, EgressPurpose } from '../../egress/egress-options.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Origins that may receive credentials, in addition to those of the URLs of the caller. */
export type CredentialOrigins = readonly string[] | 'any';

/** A destination that a request may be sent to. */
export interface AllowedDestination {
  origin: string;
  /** Policy that the connection must enforce; undefined for URLs of the caller. */
  egress: EgressPolicy | undefined;
}

/**
 * Decides which origins requests may be sent to. URLs of the caller are always allowed; URLs supplied by a peer must
 * pass the egress policy (SSRF protection).
 */
export class DestinationPolicy {
  readonly #trusted = new Set<string>();
  readonly #egress: EgressOptions | EgressPolicy | false;
  readonly #credentialOrigins: CredentialOrigins;
  #policy: EgressPolicy | undefined;
  /** True if the caller passed a URL of the local host, which allows all of its ports. */
  #trustsLocalHost = false;

  constructor(egress: EgressOptions | EgressPolicy | false = {}, credentialOrigins: CredentialOrigins = []) {
    this.#egress = egress;
    this.#credentialOrigins = credentialOrigins === 'any' ? 'any' : credentialOrigins.map(parseOrigin);
  }

  /** Allows the origin of a URL of the caller. */
  trust(url: string | URL): void {
    const { origin, hostname } = new URL(url);
    this.#trusted.add(origin);
    this.#trustsLocalHost ||= isLocalHost(hostname);
  }

  isTrusted(origin: string): boolean {
    if (this.#egress === false || this.#trusted.has(origin)) return true;
    return this.#trustsLocalHost && isLocalHost(new URL(origin).hostname);
  }

  /**
   * Returns true if credentials may be sent to an origin: it is one of a URL of the caller, or the caller allows it.
   * Credentials for an HTTPS URL are never sent over plain HTTP.
   */
  mayReceiveCredentials(origin: string): boolean {
    if (this.#trusted.has(origin)) return true;
    const url = new URL(origin);
    const trusted = [...this.#trusted].map((each) => new URL(each));
    if (url.protocol !== 'https:' && trusted.some(({ protocol }) => protocol === 'https:')) return false;
    if (this.#credentialOrigins === 'any' || this.#credentialOrigins.includes(origin)) return true;
    // Names of the local host are interchangeable, its ports are not: other programs listen there.
    return (
      isLocalHost(url.hostname) &&
      trusted.some(
        ({ protocol, hostname, port }) =>
          protocol === url.protocol && port === url.port && isLocalHost(hostname),
      )
    );
  }

  /**
   * Returns the destination of a request.
   *
   * @throws {@link A2AError} `PERMISSION_DENIED` if the egress policy denies the URL.
   */
  async resolve(url: string, purpose: EgressPurpose): Promise<AllowedDestination> {
    const { origin } = new URL(url);
    if (this.isTrusted(origin)) return { origin, egress: undefined };
    const egress = (this.#policy ??= await this.#load());
    try {
      return { origin: egress.check(url, purpose).origin, egress };
    } catch (thrown) {
      throw explainDenial(thrown);
    }
  }

  /** The library that parses IP addresses is loaded only when a peer supplies another origin. */
  async #load(): Promise<EgressPolicy> {
    const egress = this.#egress as EgressOptions | EgressPolicy;
    if ('check' in egress) return egress;
    const { egressPolicy } = await import('../../egress/egress-policy.ts');
    return egressPolicy(egress);
  }
}

/** Adds to a denial where the policy is configured. */
export function explainDenial(thrown: unknown): unknown {
  if (!(thrown instanceof A2AError) || thrown.reason !== 'PERMISSION_DENIED') return thrown;
  const { message, cause, hint = '' } = thrown;
  return new A2AError('PERMISSION_DENIED', message, {
    cause,
    hint: `The URL comes from the agent card, a catalog or a redirect. ${hint} Add an exception to the \`egress\` option of connect().`,
  });
}

function parseOrigin(text: string): string {
  const url = parseUrl(text);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.origin;
  throw invalidField('credentialOrigins', 'must contain origins such as https://agents.example.com');
}
