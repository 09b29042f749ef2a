import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { AgentCard, AgentCardSignature } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { isLoopbackHost } from '../limits/client-address.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerOptions } from '../server-options.ts';

/** Has cards signed as they are published, which is after they got their addresses. */
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
   * @param url - the address in it.
   * @returns undefined where it cannot be signed, which only whoever runs the server hears of: a card without a
   * signature is of use to many, and who insists on one refuses it.
   */
  async signed(card: AgentCard, url: string, exchange: HttpServerRequest): Promise<AgentCard | undefined> {
    try {
      if (!this.#isOurs(url))
        throw new A2AError('INTERNAL_ERROR', `The card was not signed, because a caller named ${url}`, {
          hint: 'Set `publicUrl`: whoever calls may write any address into `Host`.',
        });
      const wire = v1_0.card.write(card) as { [member: string]: unknown };
      const { signatures } = (await this.#sign(wire)) as { signatures?: unknown };
      if (!Array.isArray(signatures) || signatures.length === 0)
        throw new A2AError('INTERNAL_ERROR', 'signCard gave a card without signatures');
      return { ...card, signatures: signatures as AgentCardSignature[] };
    } catch (thrown) {
      this.#report(thrown, exchange);
      return undefined;
    }
  }

  /** A caller that could choose the address would get a signature for its own. This machine is no address to steal. */
  #isOurs(url: string): boolean {
    if (this.#options.publicUrl !== undefined) return true;
    return isLoopbackHost(new URL(url).hostname);
  }

  #report(thrown: unknown, exchange: HttpServerRequest): void {
    const isOwn = thrown instanceof A2AError && thrown.reason === 'INTERNAL_ERROR';
    const error = isOwn
      ? thrown
      : new A2AError('INTERNAL_ERROR', 'The card could not be signed', { cause: thrown });
    try {
      this.#options.onError?.(error, exchange);
    } catch {
      // Whoever listens must not be able to keep the caller from its answer.
    }
  }
}
