import type { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { HttpServerRequest, RequestHeaders } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { type MountedMessage, resolveMountedUrl } from './mounted-url.ts';
import type { SseStream } from '../http/sse-stream.ts';
import type { ByteReservation } from '../limits/byte-budget.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** A request received by `node:http`. */
export class NodeServerRequest implements HttpServerRequest {
  readonly method: string;
  readonly path: string;
  readonly mountPath: string | undefined = undefined;
  readonly query: string;
  readonly headers: RequestHeaders;
  body = '';
  telemetry: RequestTelemetry | undefined = undefined;
  isAdmitted = false;
  clientAddress: string | undefined = undefined;
  /** Counts the bytes of the body. */
  reservation: ByteReservation | undefined = undefined;
  #incoming: IncomingMessage | undefined;
  #outgoing: ServerResponse | undefined;
  #stream: SseStream | undefined = undefined;
  #context: ServerContext | undefined = undefined;

  /** @param basePath - of the handler; a framework may have removed it from the URL. */
  constructor(incoming: MountedMessage, outgoing: ServerResponse, basePath: string) {
    const { url = '/', originalUrl } = incoming;
    const queryStart = url.indexOf('?');
    this.method = incoming.method ?? 'GET';
    this.path = queryStart < 0 ? url : url.slice(0, queryStart);
    this.query = queryStart < 0 ? '' : url.slice(queryStart + 1);
    if (originalUrl !== undefined && originalUrl !== url) {
      const mounted = resolveMountedUrl(this.path, originalUrl, basePath);
      this.path = mounted.path;
      this.mountPath = mounted.mountPath;
    }
    this.headers = incoming.headers;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  get isSecure(): boolean {
    return (this.#incoming?.socket as { encrypted?: boolean } | undefined)?.encrypted === true;
  }

  get remoteAddress(): string | undefined {
    return this.#incoming?.socket.remoteAddress;
  }

  get localAddress(): string | undefined {
    return this.#incoming?.socket.localAddress;
  }

  get certificate(): X509Certificate | undefined {
    const socket = this.#incoming?.socket as Partial<TLSSocket> | undefined;
    return socket?.authorized ? socket.getPeerX509Certificate?.() : undefined;
  }

  onDisconnect(callback: () => void): void {
    const outgoing = this.#outgoing;
    outgoing?.once('close', () => {
      if (!outgoing.writableFinished) callback();
    });
  }

  /** Frees members that are not needed by a stream, which may stay open for hours. */
  shrink(): void {
    this.body = '';
    this.reservation?.release();
    if (this.#incoming) this.#incoming.rawHeaders = [];
  }

  /** Attaches the stream of the response, which ends with the connection. */
  attachStream(stream: SseStream, context: ServerContext): void {
    this.#stream = stream;
    this.#context = context;
  }

  /** Releases the connection: a task may reference this request long after the connection has closed. */
  release(): void {
    this.body = '';
    this.reservation?.release();
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream) {
      stream.detach();
      this.#context?.streamEnded(stream);
    }
    this.telemetry = undefined;
    this.#incoming = undefined;
    this.#outgoing = undefined;
  }
}
