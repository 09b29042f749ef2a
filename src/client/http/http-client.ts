import { A2AError } from '../../protocol/errors.ts';
import type { EgressPolicy } from '../../egress/egress-policy.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { ClientTls } from '../connect-options.ts';

/** An HTTP request. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port. */
  origin: string;
  /** Path and query. */
  path: string;
  /** Header names are lower case. */
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Requires HTTP/2 and the trailers of the response, for gRPC. A client without them rejects the request. */
  http2?: boolean;
  /** Aborts the request and the reading of its response. */
  signal?: AbortSignal;
  /**
   * Set if a peer supplied the URL, which this policy has allowed. The connection must also enforce it, because a name
   * may resolve to any address: use `lookupFor(port)`.
   */
  egress?: EgressPolicy;
}

/** Status and headers of a response. Its body is consumed once, by `text`, `chunks` or `discard`. */
export interface HttpResponse {
  readonly status: number;
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined;
  /** Returns the lower-case names of all headers. Clients of programs may lack it. */
  headerNames?(): readonly string[];
  /** Returns a trailer by its lower-case name, once the body is consumed. Only for requests with `http2`. */
  trailer?(name: string): string | undefined;
  /** Returns the complete body. Rejects with {@link BodyTooLargeError} beyond `limit` bytes. */
  text(limit: number): Promise<string>;
  /** Iterates over the body as it arrives. Leaving the loop closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Discards the body and closes the connection. */
  discard(): void;
}

/** HTTP client. All requests of a connection use it. */
export interface HttpClient {
  /** Rejects with {@link HttpTransportError} if there is no response, and with the error of the egress policy if it denies. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /**
   * Returns true if the client accepts requests with `http2`. Interfaces of gRPC are passed over otherwise.
   * @defaultValue false
   */
  supportsHttp2?(): boolean | Promise<boolean>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Options of the built-in driver. */
export interface HttpDriverOptions {
  /** Connection timeout in milliseconds. */
  connectTimeout: number;
  /** Maximum number of connections per origin; further requests wait. */
  maxConnections: number;
  /** Trusted certificates and client certificate. */
  tls?: ClientTls | undefined;
  /**
   * Milliseconds without any byte after which an HTTP/2 connection with open streams is tested. 0 disables the test.
   * @defaultValue 60 000
   */
  idleTimeout?: number | undefined;
  /** @defaultValue the clock of the system */
  clock?: Clock | undefined;
}

/** There was no response, or the connection was interrupted. */
export class HttpTransportError extends Error {
  override readonly name = 'HttpTransportError';
  /** Error code of the system or the library, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** False if no byte of the request can have reached the server, so that a retry is safe. */
  readonly sent: boolean;

  constructor(cause: unknown, sent: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = findErrorCode(cause);
    this.sent = sent;
  }
}

/** Returns the error of a request to a closed client. */
export function clientClosedError(): HttpTransportError {
  return new HttpTransportError(new Error('The client is closed'), false);
}

/** Returns the error of a request that requires HTTP/2, which the client does not support. */
export function http2UnsupportedError(hint = ''): A2AError {
  return new A2AError('UNSUPPORTED_OPERATION', 'This HTTP client does not support gRPC', {
    cause: new HttpTransportError(new Error('HTTP/2 is not supported'), false),
    hint: `gRPC requires HTTP/2 with trailers, which \`fetch\` does not have: use Node without the option \`fetch\`, or another transport. ${hint}`.trimEnd(),
  });
}

/** The body exceeds the limit. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

/** Returns the first `code` in a chain of causes. */
function findErrorCode(thrown: unknown): string | undefined {
  for (let each = thrown, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if ('code' in each && typeof each.code === 'string') return each.code;
    if (each instanceof AggregateError && each.errors.length > 0) return findErrorCode(each.errors[0]);
  }
  return undefined;
}
