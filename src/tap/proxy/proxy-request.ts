import {
  type ClientRequest,
  type IncomingMessage,
  request as plainRequest,
  type ServerResponse,
} from 'node:http';
import { request as secureRequest } from 'node:https';
import { HttpExchangeRecorder } from '../recorders/http-exchange-recorder.ts';
import { clientName } from '../participants.ts';
import { maxDecodedLength, type TrafficRecorder } from '../recorders/traffic-recorder.ts';
import {
  type CardRewrite,
  rewriteCardBody,
  rewrittenEtag,
  originalEtags,
  mayBeCardResponse,
} from './rewrite-card.ts';
import { createBodyDecoder } from './content-encoding.ts';

/** What all requests that pass share. */
export interface ProxyContext {
  readonly target: URL;
  readonly recorder: TrafficRecorder;
  /** What the target is called. */
  readonly name: () => string;
  /** The address of the tap for those who do not say how they found it. */
  readonly url: () => string;
  /** A card passed. */
  readonly onCard: (change: CardRewrite) => void;
}

/** Headers that are about one connection, not about what passes. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'expect',
  'te',
  'trailer',
]);

/** How large a card may be that is changed. */
const maxCard = 4 * 1_024 * 1_024;

/** Takes one request on to the target and its answer back, bytes as they are, and shows both to the recorder. */
export function proxyRequest(
  passing: ProxyContext,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  new Relay(passing, request, response).go();
}

class Relay {
  readonly #passing: ProxyContext;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #from: string;
  readonly #url: string;
  readonly #body: Buffer[] = [];
  #length = 0;
  #trip: HttpExchangeRecorder | undefined;
  #outgoing: ClientRequest | undefined;
  /** Set once it is settled how it ended. */
  #isOver = false;

  constructor(passing: ProxyContext, request: IncomingMessage, response: ServerResponse) {
    this.#passing = passing;
    this.#request = request;
    this.#response = response;
    this.#from = clientName(undefined, request.headers['user-agent']);
    this.#url = passing.target.origin + (request.url ?? '/');
  }

  go(): void {
    const { target } = this.#passing;
    const { method = 'GET' } = this.#request;
    const open = target.protocol === 'https:' ? secureRequest : plainRequest;
    const outgoing = open({
      protocol: target.protocol,
      hostname: target.hostname.replace(/^\[|\]$/g, ''),
      port: target.port === '' ? undefined : target.port,
      method,
      path: this.#request.url ?? '/',
      headers: this.#headers(),
      setHost: false,
      // A connection that is used again may be closed by the agent just then, and a lost request would be our fault.
      agent: false,
    });
    this.#outgoing = outgoing;
    outgoing.on('error', (error) => this.#unreachable(error));
    outgoing.on('response', (incoming) => this.#answered(incoming));
    this.#request.on('data', (bytes: Buffer) => this.#look(bytes));
    this.#request.on('end', () => this.#begin());
    // What comes in pieces of unknown length goes on so.
    this.#request.pipe(outgoing);
    this.#response.on('close', () => this.#left());
  }

  #look(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length <= maxDecodedLength) this.#body.push(bytes);
  }

  /** The request was seen, as far as it came. */
  #begin(): HttpExchangeRecorder {
    const { recorder, name } = this.#passing;
    const { method = 'GET', headers } = this.#request;
    return (this.#trip ??= new HttpExchangeRecorder(
      recorder,
      { from: this.#from, to: name },
      { method, url: this.#url, headers },
      { bytes: this.#body, length: this.#length },
    ));
  }

  /** The same headers, but for those of the connection, and with the name that the target knows itself by. */
  #headers(): string[] {
    const named = new Set(connectionNames(this.#request.headers.connection));
    const { rawHeaders } = this.#request;
    const isCard = mayBeCardResponse(this.#request);
    const headers: string[] = ['Host', this.#passing.target.host];
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at] as string;
      const lower = name.toLowerCase();
      let value = rawHeaders[at + 1] as string;
      if (lower === 'host' || named.has(lower) || (ofConnection.has(lower) && lower !== 'transfer-encoding'))
        continue;
      if (isCard && lower === 'accept-encoding') value = 'identity';
      if (isCard && lower === 'if-none-match') value = originalEtags(value);
      headers.push(name, value);
    }
    return headers;
  }

  #answered(incoming: IncomingMessage): void {
    const status = incoming.statusCode ?? 502;
    const trip = this.#begin();
    incoming.on('error', (error) => this.#brokeOff(error));
    incoming.on('aborted', () => this.#brokeOff(new Error('the connection was closed')));
    if (mayBeCardResponse(this.#request, incoming, this.#body)) {
      this.#change(incoming, trip, status);
      return;
    }
    this.#response.writeHead(status, incoming.statusMessage, headersOf(incoming));
    this.#response.flushHeaders();
    trip.response(status, incoming.headers);
    const reading = createBodyDecoder(incoming.headers['content-encoding'], (bytes) => trip.chunk(bytes));
    incoming.on('data', (bytes: Buffer) => reading.push(bytes));
    incoming.on('end', () => {
      this.#isOver = true;
      reading.end(() => trip.end('whole'));
    });
    incoming.pipe(this.#response);
  }

  /** A card has to be there as a whole before it can say something else. */
  #change(incoming: IncomingMessage, trip: HttpExchangeRecorder, status: number): void {
    const pieces: Buffer[] = [];
    let length = 0;
    incoming.on('data', (bytes: Buffer) => {
      length += bytes.length;
      if (length <= maxCard) pieces.push(bytes);
      else incoming.destroy(new Error(`a card of more than ${maxCard} bytes`));
    });
    incoming.on('end', () => {
      this.#isOver = true;
      const bytes = Buffer.concat(pieces);
      const tap = this.#tapOrigin();
      const change = rewriteCardBody(bytes, incoming.headers['content-encoding'], {
        target: this.#passing.target,
        tap,
      });
      const isHead = this.#request.method === 'HEAD' || status === 304;
      const headers = change.body ? changedHeaders(incoming, change.body.length) : headersOf(incoming);
      this.#response.writeHead(
        status,
        incoming.statusMessage,
        isHead ? withEtag(headersOf(incoming)) : headers,
      );
      const shown = change.body ?? bytes;
      this.#response.end(shown);
      trip.response(status, incoming.headers, shown.toString('utf8'));
      trip.end('whole');
      this.#passing.onCard(change);
    });
  }

  #tapOrigin(): string {
    const { host } = this.#request.headers;
    return host !== undefined && /^[\w.-]+(?::\d+)?$|^\[[\da-f:]+\](?::\d+)?$/i.test(host)
      ? `http://${host}`
      : this.#passing.url();
  }

  /** No answer came. */
  #unreachable(error: NodeJS.ErrnoException): void {
    if (this.#isOver) return;
    if (this.#response.headersSent) {
      this.#brokeOff(error);
      return;
    }
    this.#isOver = true;
    const { origin } = this.#passing.target;
    const message = `The tap cannot reach ${origin}: ${inWords(error)}`;
    const body = JSON.stringify({ error: { code: 502, status: 'UNAVAILABLE', message } });
    const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    this.#request.unpipe();
    this.#request.resume();
    this.#response.writeHead(502, headers);
    this.#response.end(body);
    const trip = this.#begin();
    trip.response(502, headers, body);
    trip.end({ why: message });
  }

  /** The target stopped in the middle: the caller sees the same. */
  #brokeOff(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#response.destroy();
    this.#begin().end({ why: `The agent broke off: ${error.message}` });
  }

  /** The caller is gone, or has everything. */
  #left(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#begin().end({ why: 'The caller hung up' });
    this.#outgoing?.destroy();
  }
}

function connectionNames(header: string | undefined): string[] {
  return (header ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
}

/** The headers of an answer as they came, but for those of the connection. */
function headersOf(incoming: IncomingMessage): string[] {
  const { rawHeaders } = incoming;
  const named = new Set(connectionNames(incoming.headers.connection));
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const lower = name.toLowerCase();
    if (ofConnection.has(lower) || named.has(lower)) continue;
    headers.push(name, rawHeaders[at + 1] as string);
  }
  return headers;
}

const ofBody = new Set([
  'content-length',
  'content-encoding',
  'content-md5',
  'digest',
  'content-digest',
  'repr-digest',
]);

function changedHeaders(incoming: IncomingMessage, length: number): string[] {
  const headers = withEtag(headersOf(incoming));
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2)
    if (!ofBody.has((headers[at] as string).toLowerCase()))
      kept.push(headers[at] as string, headers[at + 1] as string);
  return [...kept, 'Content-Length', String(length)];
}

/** A card that was changed is another one, and one that was not changed now may be another time. */
function withEtag(headers: string[]): string[] {
  return headers.map((value, at) =>
    at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'etag' ? rewrittenEtag(value) : value,
  );
}

function inWords(error: NodeJS.ErrnoException): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return 'nothing listens there (ECONNREFUSED). Is the agent running?';
    case 'ENOTFOUND':
      return 'there is no such host (ENOTFOUND). Is the address right?';
    default:
      return error.code === undefined || error.message.includes(error.code)
        ? error.message
        : `${error.message} (${error.code})`;
  }
}
