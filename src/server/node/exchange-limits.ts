import type { IncomingMessage, ServerResponse } from 'node:http';
import { constantTimeEqual } from '../../primitives/node/constant-time-equal.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type HttpServerRequest, type HttpServerResponse, singleHeader } from '../http/http-message.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { ClientLimiter } from '../limits/client-limiter.ts';
import { defaultLimits } from '../limits/limits.ts';
import { outputExceeded, ServerBudgets } from '../limits/server-budgets.ts';
import { TrustedProxies } from '../limits/trusted-proxies.ts';
import type { ServerOptions } from '../server-options.ts';
import { headerCountError } from './connection-limits.ts';
import { NodeServerRequest } from './node-server-request.ts';
import { readBodyText } from './request-body.ts';
import { closeWhenStalled, sendResponse } from './send-response.ts';

/** Options of {@link ExchangeLimits}. */
export type ExchangeLimitOptions = Pick<
  ServerOptions,
  'limits' | 'maxBodyBytes' | 'maxStreams' | 'stallTimeout' | 'trustProxy'
>;

/** A call of gRPC that counts towards the limits until it is released. */
export interface AdmittedCall {
  /** Count bytes of the client and of the response. */
  readonly reservations: readonly [ByteReservation, ByteReservation];
  release(): void;
}

/**
 * Applies the limits of `serve` to HTTP servers that serve no agent: the actions of a bridge, MCP, the console and the
 * tap.
 */
export class ExchangeLimits {
  readonly clients: ClientLimiter;
  readonly maxBodyBytes: number;
  readonly #options: ExchangeLimitOptions;
  readonly #budgets: ServerBudgets;
  readonly #proxies: TrustedProxies | undefined;
  readonly #stallTimeout: number;

  constructor(options: ExchangeLimitOptions = {}) {
    const { maxBodyBytes, stallTimeout, trustProxy } = options;
    this.#options = options;
    this.maxBodyBytes = maxBodyBytes ?? defaultLimits.maxBodyBytes;
    this.#stallTimeout = stallTimeout ?? defaultLimits.stallTimeout;
    this.clients = new ClientLimiter(options);
    this.#budgets = new ServerBudgets(options.limits);
    this.#proxies = trustProxy && new TrustedProxies(trustProxy);
  }

  /**
   * Accepts a request before authentication. From then on, the connection is closed if the client does not read.
   *
   * @throws {@link A2AError} if it has too many headers, or if its address sends too many requests or invalid credentials.
   */
  admit(incoming: IncomingMessage, outgoing: ServerResponse): NodeServerRequest {
    const tooMany = headerCountError(incoming, this.#options.limits ?? {});
    if (tooMany) throw tooMany;
    const request = new NodeServerRequest(incoming, outgoing, '');
    request.clientAddress = this.#proxies?.clientAddress(request);
    const refusal = this.clients.admit(request);
    if (refusal) throw refusal;
    closeWhenStalled(outgoing, this.#stallTimeout);
    return request;
  }

  /**
   * Accepts a call of gRPC.
   *
   * @throws {@link A2AError} if its address sends too many requests, or too many calls are open.
   */
  admitCall(request: HttpServerRequest): AdmittedCall {
    const refusal = this.clients.admit(request);
    if (refusal) throw refusal;
    const usage = this.clients.acquireStream(request);
    const reservations = [this.#budgets.openBody(request), this.#budgets.openBody(request)] as const;
    return {
      reservations,
      release: () => {
        this.clients.releaseStream(usage);
        for (const each of reservations) each.release();
      },
    };
  }

  /** Returns true if a request has a bearer token. Wrong tokens are counted. */
  hasToken(request: HttpServerRequest, token: string): boolean {
    const authorization = singleHeader(request.headers, 'authorization');
    if (constantTimeEqual(authorization ?? '', `Bearer ${token}`)) return true;
    if (authorization !== undefined) this.clients.countInvalidCredentials(request);
    return false;
  }

  /**
   * Reads the body of an authenticated request. The request counts towards the rate of its client, readable or not.
   *
   * @throws {@link A2AError} if a limit is exceeded or the body is not UTF-8.
   */
  async readBody(
    request: HttpServerRequest,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<string> {
    const limited = this.clients.takeRate(request);
    if (limited) throw limited;
    const reservation = this.reserveBody(request, outgoing);
    return new Promise((resolve, reject) => {
      const done = (body: string | A2AError): void => {
        if (typeof body === 'string') {
          resolve(body);
          return;
        }
        reservation.release();
        reject(body);
      };
      incoming.on('error', () => reject(new A2AError('CANCELED')));
      readBodyText(incoming, this.maxBodyBytes, done, reservation);
    });
  }

  /** Counts bytes of a request until the response is complete. */
  reserveBody(request: HttpServerRequest, outgoing: ServerResponse): ByteReservation {
    return releasedWith(outgoing, this.#budgets.openBody(request));
  }

  /** Sends a complete response. @throws {@link A2AError} if the client does not read earlier ones. */
  send(request: HttpServerRequest, outgoing: ServerResponse, response: HttpServerResponse): void {
    const counted = this.#budgets.reserveOutput(request, response);
    if (!counted) throw outputExceeded();
    // `admit` has set the timeout.
    sendResponse(outgoing, counted, { stallTimeout: 0 });
  }

  /** Opens the output of a stream. */
  openOutput(request: HttpServerRequest, outgoing: ServerResponse): StreamOutput {
    return new StreamOutput(outgoing, releasedWith(outgoing, this.#budgets.openOutput(request)));
  }
}

function releasedWith(outgoing: ServerResponse, reservation: ByteReservation): ByteReservation {
  outgoing.once('close', () => reservation.release());
  return reservation;
}

/** Output of a stream. Bytes that the client has not read are counted; above the limit the connection is closed. */
export class StreamOutput {
  readonly #outgoing: ServerResponse;
  readonly #reservation: ByteReservation;

  constructor(outgoing: ServerResponse, reservation: ByteReservation) {
    this.#outgoing = outgoing;
    this.#reservation = reservation;
    outgoing.on('drain', () => reservation.release());
  }

  /** @returns false if the client reads too slowly. */
  write(frame: string | Uint8Array): boolean {
    const outgoing = this.#outgoing;
    if (outgoing.destroyed) return false;
    if (outgoing.write(frame)) return true;
    const { writableLength } = outgoing;
    if (writableLength >= minCountedBytes && !this.#reservation.growTo(writableLength)) outgoing.destroy();
    return false;
  }

  end(frame?: string): void {
    if (frame !== undefined) this.write(frame);
    if (!this.#outgoing.destroyed) this.#outgoing.end();
  }
}
