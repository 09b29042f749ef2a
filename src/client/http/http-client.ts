import type { EgressPolicy } from '../../egress/egress-policy.ts';

/** One request of HTTP, as every driver takes it. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Scheme, host and port. */
  origin: string;
  /** Path and query. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Ends the request, and the reading of its answer, at once. */
  signal?: AbortSignal;
  /**
   * A peer gave the address, and this policy has allowed its URL. The connection has to keep to it too, because names
   * may lead anywhere: resolve with its `lookupFor(port)`.
   */
  egress?: EgressPolicy;
}

/** The beginning of an answer; its body is read once, by one of the three ways. */
export interface HttpResponse {
  readonly status: number;
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** The whole body as text. Rejects with {@link BodyTooLargeError} beyond `limit` bytes. */
  text(limit: number): Promise<string>;
  /** The body as it arrives. Leaving the loop closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Gives up the body and closes the connection. */
  discard(): void;
}

/** The one door to the network: everything the client says goes through it. */
export interface HttpClient {
  /** Rejects with {@link HttpTransportError} when there is no answer, and with the error of the policy when it refuses. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Closes what is open. */
  close(): Promise<void>;
}

/** There was no answer, or it broke off. */
export class HttpTransportError extends Error {
  override readonly name = 'HttpFailure';
  /** The system's or the library's word for it, such as `ECONNREFUSED`. */
  readonly code: string | undefined;
  /** False when no byte of the request can have reached the peer, so that asking again is safe. */
  readonly sent: boolean;

  constructor(cause: unknown, sent: boolean) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = codeOf(cause);
    this.sent = sent;
  }
}

/** The body is larger than the caller takes. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLarge';
}

/** The first `code` in a chain of causes. */
function codeOf(thrown: unknown): string | undefined {
  for (let each = thrown, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if ('code' in each && typeof each.code === 'string') return each.code;
    if (each instanceof AggregateError && each.errors.length > 0) return codeOf(each.errors[0]);
  }
  return undefined;
}
