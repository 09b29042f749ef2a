import type { X509Certificate } from 'node:crypto';
import type { MessageHead } from '../../http2/message-head.ts';
import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';
import type { GrpcConnection } from './grpc-connection.ts';

/** A call received over HTTP/2. Its metadata are the headers. */
export class GrpcRequest implements HttpServerRequest {
  readonly method = 'POST';
  readonly query = '';
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly isSecure: boolean;
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
  /** The frame of the client as text in which each character is a byte; set for observers only. */
  body = '';
  bodyLength = 0;
  telemetry: RequestTelemetry | undefined = undefined;
  isAdmitted = false;
  clientAddress: string | undefined = undefined;
  #connection: GrpcConnection | undefined;
  #onDisconnect: (() => void)[] | undefined = undefined;

  constructor(connection: GrpcConnection, { path, fields }: MessageHead) {
    this.path = path;
    this.headers = fields;
    this.isSecure = connection.isSecure;
    this.remoteAddress = connection.remoteAddress;
    this.localAddress = connection.localAddress;
    this.#connection = connection;
  }

  get certificate(): X509Certificate | undefined {
    return this.#connection?.certificate;
  }

  onDisconnect(callback: () => void): void {
    (this.#onDisconnect ??= []).push(callback);
  }

  /** Called when the client no longer waits for the response. */
  disconnected(): void {
    const callbacks = this.#onDisconnect;
    this.#onDisconnect = undefined;
    for (const callback of callbacks ?? []) callback();
  }

  /** Frees what a task must not reference after the call. */
  release(): void {
    this.body = '';
    this.telemetry = undefined;
    this.#connection = undefined;
    this.#onDisconnect = undefined;
  }
}
