import { metricNames, type Metrics } from '../../metrics/metrics.ts';
import type { HttpServerRequest, HttpServerResponse } from '../http/http-message.ts';
import { ByteBudget, type ByteReservation, minCountedBytes } from './byte-budget.ts';
import { clientKey } from './client-limiter.ts';
import { defaultLimits, limitExceeded, type ServerLimits } from './limits.ts';

/** Memory that one server uses for request bodies and unsent output. The agents of a gateway share it. */
export class ServerBudgets {
  readonly #bodies: ByteBudget;
  readonly #output: ByteBudget;

  constructor(limits: ServerLimits = {}, metrics?: Metrics) {
    const { bodyBytes, bodyBytesPerClient, outputBytes, outputBytesPerClient } = {
      ...defaultLimits,
      ...limits,
    };
    this.#bodies = new ByteBudget({ total: bodyBytes, perClient: bodyBytesPerClient });
    this.#output = new ByteBudget({ total: outputBytes, perClient: outputBytesPerClient });
    metrics?.registry.observed(metricNames.bodyBytes, 'gauge', () => this.#bodies.used);
    metrics?.registry.observed(metricNames.outputBytes, 'gauge', () => this.#output.used);
  }

  /** Opens a reservation for the body of a request. */
  openBody(request: HttpServerRequest): ByteReservation {
    return this.#bodies.open(clientKey(request));
  }

  /** Opens a reservation for the output of a stream. */
  openOutput(request: HttpServerRequest): ByteReservation {
    return this.#output.open(clientKey(request));
  }

  /**
   * Counts a large response until the adapter has sent it.
   *
   * @returns undefined if the client, or all clients together, do not read their responses.
   */
  reserveOutput(request: HttpServerRequest, response: HttpServerResponse): HttpServerResponse | undefined {
    const { body } = response;
    if (typeof body !== 'string' || body.length < minCountedBytes) return response;
    const reservation = this.openOutput(request);
    if (!reservation.grow(body.length)) return undefined;
    response.onSent = () => reservation.release();
    return response;
  }
}

/** Creates the error of a client that does not read its responses. */
export function outputExceeded(): ReturnType<typeof limitExceeded> {
  return limitExceeded('outputBytes', 'Too many bytes of earlier responses have not been read', 1);
}

/** Creates the error of too many request bodies in transit. */
export function bodiesExceeded(): ReturnType<typeof limitExceeded> {
  return limitExceeded('bodyBytes', 'Too many bytes of request bodies are in transit', 1);
}
