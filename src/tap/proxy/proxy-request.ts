import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import { HttpExchangeRecorder } from '../recorders/http-exchange-recorder.ts';
import type { ByteReservation } from '../../server/limits/byte-budget.ts';
import type { ExchangeLimits } from '../../server/node/exchange-limits.ts';
import type { HttpServerRequest } from '../../server/http/http-message.ts';
import { clientName } from '../participants.ts';
import { maxDecodedLength, type TrafficRecorder } from '../recorders/traffic-recorder.ts';
import {
  type CardRewrite,
  rewriteCardBody,
  rewrittenEtag,
  originalEtags,
  maxCardBytes,
  mayBeCardResponse,
} from './rewrite-card.ts';
import { tapOrigin } from './tap-origin.ts';
import { describeConnectionError } from './describe-connection-error.ts';
import { createBodyDecoder } from '../decode/content-encoding.ts';

/** Collaborators shared by all proxied requests. */
export interface ProxyContext {
  readonly target: URL;
  readonly recorder: TrafficRecorder;
  /** Name of the target in the traffic log. */
  readonly name: () => string;
  /** URL of the tap, for requests without a valid `Host` header. */
  readonly url: () => string;
  readonly limits: ExchangeLimits;
  /** Called with each card that passes the tap. */
  readonly onCard: (rewrite: CardRewrite) => void;
}

const hopByHopHeaders = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

/** Forwards a request to the target and the response to the client unchanged, and records both. Cards are rewritten. */
export function proxyRequest(
  context: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
  admitted: HttpServerRequest,
): void {
  new ProxiedRequest(context, request, response, admitted).forward();
}

class ProxiedRequest {
  readonly #context: ProxyContext;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #from: string;
  readonly #url: string;
  readonly #body: Buffer[] = [];
  /** Counts the recorded bytes. */
  readonly #recorded: ByteReservation;
  #length = 0;
  #exchange: HttpExchangeRecorder | undefined;
  #outgoing: ClientRequest | undefined;
  /** True once the outcome of the exchange is determined. */
  #isOver = false;

  constructor(
    context: ProxyContext,
    request: IncomingMessage,
    response: ServerResponse,
    admitted: HttpServerRequest,
  ) {
    this.#context = context;
    this.#recorded = context.limits.reserveBody(admitted, response);
    this.#request = request;
    this.#response = response;
    this.#from = clientName(undefined, request.headers['user-agent']);
    this.#url = context.target.origin + (request.url ?? '/');
  }

  forward(): void {
    const { target } = this.#context;
    const { method = 'GET' } = this.#request;
    const createRequest = target.protocol === 'https:' ? secureRequest : plainRequest;
    const outgoing = createRequest({
      protocol: target.protocol,
      hostname: target.hostname.replace(/^\[|\]$/g, ''),
      port: target.port === '' ? undefined : target.port,
      method,
      path: this.#request.url ?? '/',
      headers: this.#requestHeaders(),
      setHost: false,
      // The agent may close a kept-alive connection at any time, and the tap must not lose a request because of it.
      agent: false,
    });
    this.#outgoing = outgoing;
    outgoing.on('error', (error) => this.#onConnectionError(error));
    outgoing.on('response', (incoming) => this.#forwardResponse(incoming));
    this.#request.on('data', (bytes: Buffer) => this.#recordChunk(bytes));
    this.#request.on('end', () => this.#recordRequest());
    // A chunked request body stays chunked.
    this.#request.pipe(outgoing);
    this.#response.on('close', () => this.#onClose());
  }

  #recordChunk(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= maxDecodedLength && this.#recorded.grow(bytes.length)) this.#body.push(bytes);
  }

  /** Records the request as far as it was received, once. */
  #recordRequest(): HttpExchangeRecorder {
    const { recorder, name } = this.#context;
    const { method = 'GET', headers } = this.#request;
    return (this.#exchange ??= new HttpExchangeRecorder(
      recorder,
      { from: this.#from, to: name },
      { method, url: this.#url, headers },
      { bytes: this.#body, length: this.#length },
      (bytes) => this.#recorded.grow(bytes),
    ));
  }

  /** Returns the request headers without hop-by-hop headers and with the host of the target. */
  #requestHeaders(): string[] {
    const connectionHeaders = new Set(parseConnectionHeader(this.#request.headers.connection));
    const { rawHeaders } = this.#request;
    const isCard = mayBeCardResponse(this.#request);
    const headers: string[] = ['Host', this.#context.target.host];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      const lower = name.toLowerCase();
      let value = rawHeaders[at + 1] as string;
      if (
        lower === 'host' ||
        connectionHeaders.has(lower) ||
        (hopByHopHeaders.has(lower) && lower !== 'transfer-encoding')
      )
        continue;
      // A page at the URL of the tap has the origin of the agent.
      if (lower === 'origin' && value === `http://${this.#request.headers.host}`)
        value = this.#context.target.origin;
      if (isCard && lower === 'accept-encoding') value = 'identity';
      if (isCard && lower === 'if-none-match') value = originalEtags(value);
      headers.push(name, value);
    }
    return headers;
  }

  #forwardResponse(incoming: IncomingMessage): void {
    const status = incoming.statusCode ?? 502;
    const exchange = this.#recordRequest();
    incoming.on('error', (error) => this.#onInterrupted(error));
    incoming.on('aborted', () => this.#onInterrupted(new Error('the connection was closed')));
    if (mayBeCardResponse(this.#request, incoming, this.#body)) {
      this.#forwardCard(incoming, exchange, status);
      return;
    }
    this.#response.writeHead(status, incoming.statusMessage, responseHeaders(incoming));
    this.#response.flushHeaders();
    exchange.response(status, incoming.headers);
    const decoder = createBodyDecoder(incoming.headers['content-encoding'], (bytes) => exchange.chunk(bytes));
    incoming.on('data', (bytes: Buffer) => decoder.push(bytes));
    incoming.on('end', () => {
      this.#isOver = true;
      decoder.end(() => exchange.end('complete'));
    });
    incoming.pipe(this.#response);
  }

  /** Buffers a card, because it can only be rewritten as a whole. */
  #forwardCard(incoming: IncomingMessage, exchange: HttpExchangeRecorder, status: number): void {
    const pieces: Buffer[] = [];
    let length = 0;
    incoming.on('data', (bytes: Buffer) => {
      length += bytes.length;
      if (length > maxCardBytes) incoming.destroy(new Error(`a card of more than ${maxCardBytes} bytes`));
      else if (this.#recorded.grow(bytes.length)) pieces.push(bytes);
      else incoming.destroy(new Error('too many bytes of cards in transit'));
    });
    incoming.on('end', () => {
      this.#isOver = true;
      const bytes = Buffer.concat(pieces);
      const urls = {
        target: this.#context.target,
        tap: tapOrigin(this.#request.headers.host, this.#context.url()),
      };
      const rewrite = rewriteCardBody(bytes, incoming.headers['content-encoding'], urls);
      const hasNoBody = this.#request.method === 'HEAD' || status === 304;
      const original = responseHeaders(incoming);
      const headers = rewrite.body ? rewrittenHeaders(original, rewrite.body.length) : original;
      this.#response.writeHead(status, incoming.statusMessage, hasNoBody ? rewriteEtag(original) : headers);
      const body = rewrite.body ?? bytes;
      this.#response.end(body);
      exchange.response(status, incoming.headers, body.toString('utf8'));
      exchange.end('complete');
      this.#context.onCard(rewrite);
    });
  }

  #onConnectionError(error: NodeJS.ErrnoException): void {
    if (this.#isOver) return;
    if (this.#response.headersSent) {
      this.#onInterrupted(error);
      return;
    }
    this.#isOver = true;
    const { origin } = this.#context.target;
    const message = `The tap cannot reach ${origin}: ${describeConnectionError(error)}`;
    const body = JSON.stringify({ error: { code: 502, status: 'UNAVAILABLE', message } });
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    this.#request.unpipe();
    this.#request.resume();
    this.#response.writeHead(502, headers);
    this.#response.end(body);
    const exchange = this.#recordRequest();
    exchange.response(502, headers, body);
    exchange.end({ reason: message });
  }

  /** The target closed the connection early; the tap does the same to the client. */
  #onInterrupted(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#response.destroy();
    this.#recordRequest().end({ reason: `The agent closed the connection: ${error.message}` });
  }

  /** The client disconnected, or received the complete response. */
  #onClose(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#recordRequest().end({ reason: 'The client disconnected' });
    this.#outgoing?.destroy();
  }
}

/** Headers that frame or route a message. `Connection` cannot remove them, or the next hop would read another message. */
const framingHeaders = new Set(['content-length', 'transfer-encoding', 'host']);

function parseConnectionHeader(header: string | undefined): string[] {
  return (header ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
    .filter((each) => !framingHeaders.has(each));
}

/** Returns the response headers in their original form, without hop-by-hop headers. */
function responseHeaders({ rawHeaders, headers: { connection } }: IncomingMessage): string[] {
  const connectionHeaders = new Set(parseConnectionHeader(connection));
  return removeHeaders(rawHeaders, (name) => hopByHopHeaders.has(name) || connectionHeaders.has(name));
}

function removeHeaders(headers: readonly string[], isRemoved: (name: string) => boolean): string[] {
  return headers.filter((_, at) => !isRemoved((headers[at - (at % 2)] as string).toLowerCase()));
}

const bodyHeaders = new Set([
  'content-length',
  'content-encoding',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]);

function rewrittenHeaders(headers: string[], length: number): string[] {
  const remaining = removeHeaders(rewriteEtag(headers), (name) => bodyHeaders.has(name));
  return [...remaining, 'Content-Length', String(length)];
}

/** Every card gets an ETag of the tap, because a card that needs no rewriting now may need it later. */
function rewriteEtag(headers: string[]): string[] {
  return headers.map((value, at) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'etag' ? rewrittenEtag(value) : value,
  );
}
