import type { EgressOptions, EgressPurpose } from '../../egress/egress-options.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import { A2AError } from '../../protocol/errors.ts';

/** A place that a request may go to. */
export interface AllowedDestination {
  origin: string;
  /** What the connection has to keep to; undefined where the user said so. */
  egress: EgressPolicy | undefined;
}

/**
 * Decides where requests may go. Where the user said is right, whatever it is; where a peer says to go must be public,
 * or allowed by the user.
 */
export class DestinationPolicy {
  readonly #trusted = new Set<string>();
  readonly #egress: EgressOptions | EgressPolicy | false;
  #policy: EgressPolicy | undefined;
  /** The user named this machine, so that any port of it will do. */
  #isAtHome = false;

  constructor(egress: EgressOptions | EgressPolicy | false = {}) {
    this.#egress = egress;
  }

  /** Takes the origin of a URL for the user's own word. */
  trust(url: string | URL): void {
    const { origin, hostname } = new URL(url);
    this.#trusted.add(origin);
    this.#isAtHome ||= isLocalHost(hostname);
  }

  /** True when the user's word is enough. */
  trusts(origin: string): boolean {
    if (this.#egress === false || this.#trusted.has(origin)) return true;
    return this.#isAtHome && isLocalHost(new URL(origin).hostname);
  }

  /**
   * Lets a request pass.
   *
   * @throws {@link A2AError} `PERMISSION_DENIED`
   */
  async resolve(url: string, purpose: EgressPurpose): Promise<AllowedDestination> {
    const { origin } = new URL(url);
    if (this.trusts(origin)) return { origin, egress: undefined };
    const egress = (this.#policy ??= await this.#load());
    try {
      return { origin: egress.check(url, purpose).origin, egress };
    } catch (thrown) {
      throw explainDenial(thrown);
    }
  }

  /** The library that reads addresses is loaded only when a peer leads elsewhere. */
  async #load(): Promise<EgressPolicy> {
    const egress = this.#egress as EgressOptions | EgressPolicy;
    if ('check' in egress) return egress;
    const { egressPolicy } = await import('../../egress/egress-policy.ts');
    return egressPolicy(egress);
  }
}

/** Adds to the refusal of a policy where the policy is set. */
export function explainDenial(thrown: unknown): unknown {
  if (!(thrown instanceof A2AError) || thrown.reason !== 'PERMISSION_DENIED') return thrown;
  const { message, cause, hint = '' } = thrown;
  return new A2AError('PERMISSION_DENIED', message, {
    cause,
    hint: `The agent leads there. ${hint} Such exceptions belong into the option \`egress\` of connect().`,
  });
}

/** Says whether a host of a URL is this machine, by its looks alone; what looks otherwise is for the policy. */
export function isLocalHost(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname === '[::1]' ||
    hostname === '[::]' ||
    hostname === '0.0.0.0' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
