import type { EgressOptions, EgressPurpose } from '../../egress/egress-options.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { isLocalHost } from '../../primitives/loopback.ts';
import { A2AError } from '../../protocol/errors.ts';

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
  #policy: EgressPolicy | undefined;
  /** True if the caller passed a URL of the local host, which allows all of its ports. */
  #trustsLocalHost = false;

  constructor(egress: EgressOptions | EgressPolicy | false = {}) {
    this.#egress = egress;
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
    hint: `The URL comes from the agent card or a redirect. ${hint} Add an exception to the \`egress\` option of connect().`,
  });
}
