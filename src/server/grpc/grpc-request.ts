import type { X509Certificate } from 'node:crypto';
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** A call received over HTTP/2. Its metadata are the headers. */
export class GrpcRequest implements HttpServerRequest {
  readonly method = 'POST';
  readonly query = '';
  readonly path: string;
  readonly headers: RequestHeaders;
  readonly isSecure: boolean;
  readonly remoteAddress: string | undefined;
  readonly localAddress: string | undefined;
  readonly certificate: X509Certificate | undefined;
  /** The message of the client, in which each character is a byte. */
  body = '';
  telemetry: RequestTelemetry | undefined = undefined;
  isAdmitted = false;
  clientAddress: string | undefined = undefined;
  #stream: ServerHttp2Stream | undefined;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, path: string) {
    const socket = stream.session?.socket as Partial<TLSSocket> | undefined;
    this.path = path;
    // HTTP/2 has a pseudo-header instead of `host`.
    this.headers = { ...headers, host: headers[':authority'] ?? headers.host };
    this.isSecure = socket?.encrypted === true;
    this.remoteAddress = socket?.remoteAddress;
    this.localAddress = socket?.localAddress;
    this.certificate = socket?.authorized ? socket.getPeerX509Certificate?.() : undefined;
    this.#stream = stream;
  }

  onDisconnect(callback: () => void): void {
    const stream = this.#stream;
    stream?.once('close', () => {
      if (stream.rstCode !== 0 || !stream.writableFinished) callback();
    });
  }

  /** Frees what a task must not reference after the call. */
  release(): void {
    this.body = '';
    this.telemetry = undefined;
    this.#stream = undefined;
  }
}
