import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { AgentCard, AgentCardSignature } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isLoopbackHost } from '../../primitives/loopback.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';
import { reportError } from '../telemetry/report-error.ts';

/** Signs cards after the interfaces of this server were added. */
export class CardSigner {
  readonly #options: ServerOptions;
  readonly #sign: NonNullable<ServerOptions['signCard']>;

  constructor(options: ServerOptions, sign: NonNullable<ServerOptions['signCard']>) {
    this.#options = options;
    this.#sign = sign;
  }

  /**
   * Signs a card.
   *
   * @param url - the URL of the interfaces in the card.
   * @returns undefined if signing fails, which is reported to `onError`: an unsigned card is still usable, and clients
   * that require a signature reject it.
   */
  async sign(card: AgentCard, url: string, request: HttpServerRequest): Promise<AgentCard | undefined> {
    try {
      if (!this.#isTrustedUrl(url))
        throw new A2AError(
          'INTERNAL_ERROR',
          `Card not signed: the URL ${url} comes from the Host header of the client`,
          {
            hint: 'Set `publicUrl`: clients can send any `Host` header.',
          },
        );
      const wire = v1_0.card.write(card) as { [member: string]: unknown };
      const { signatures } = (await this.#sign(wire)) as { signatures?: unknown };
      if (!Array.isArray(signatures) || signatures.length === 0)
        throw new A2AError('INTERNAL_ERROR', 'signCard returned a card without signatures');
      return { ...card, signatures: signatures as AgentCardSignature[] };
    } catch (thrown) {
      this.#report(thrown, request);
      return undefined;
    }
  }

  /** Without this check a client could get a signature for a URL of its own. Loopback URLs are harmless. */
  #isTrustedUrl(url: string): boolean {
    if (this.#options.publicUrl !== undefined) return true;
    return isLoopbackHost(new URL(url).hostname);
  }

  #report(thrown: unknown, request: HttpServerRequest): void {
    const isInternal = thrown instanceof A2AError && thrown.reason === 'INTERNAL_ERROR';
    const error = isInternal
      ? thrown
      : new A2AError('INTERNAL_ERROR', 'Cannot sign the card', { cause: thrown });
    reportError(this.#options, error, request);
  }
}
