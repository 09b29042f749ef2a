import { formatSseEvent, SseParser } from '../../primitives/formats/sse.ts';
import type { Redactor } from '../../primitives/redaction/redaction.ts';
import { type ApiKeyLocation, HttpExchangeDecoder } from '../decode/http-decoder.ts';
import type { DecodedContent, HttpMessageInfo, TrafficRecordKind } from '../traffic-record.ts';
import { type TruncatedText, maxDecodedLength, type TrafficRecorder } from './traffic-recorder.ts';

/** Headers as the recorder receives them. */
export type ObservedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Participants of an exchange. The name of the receiver may become known later. */
export interface ExchangeParticipants {
  readonly from: string;
  readonly to: () => string;
}

/** Request line and headers of a recorded request. */
export interface ObservedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ObservedHeaders;
}

/** A body whose text is made when it is recorded. */
export interface DeferredText {
  /** Approximate number of characters. */
  readonly length: number;
  readonly read: () => string;
}

/** A complete body, or the recorded bytes of a body and its actual length. */
export type ObservedBody =
  | string
  | DeferredText
  | { readonly bytes: readonly Uint8Array[]; readonly length: number };

/** How an exchange ended. A stream is checked for completeness only if it ended normally. */
export type ExchangeEnd = 'complete' | { readonly reason: string };

/** Status and headers of a recorded response. */
interface ObservedResponse {
  readonly status: number;
  readonly headers: ObservedHeaders;
  readonly at: number;
}

/** Records one HTTP exchange: request, response, stream events and end. */
export class HttpExchangeRecorder {
  readonly #recorder: TrafficRecorder;
  readonly #participants: ExchangeParticipants;
  readonly #reserve: (bytes: number) => boolean;
  readonly #exchangeId: string;
  readonly #began: number;
  readonly #head: ObservedRequest;
  readonly #decoder: HttpExchangeDecoder;
  /** Also redacts the credentials of this request from response bodies. */
  #redactor: Redactor | undefined;
  #parser: SseParser | undefined;
  /** Time at which the bytes in the parser were received. */
  #chunkAt = 0;
  #isEventStream = false;
  #hasResponse = false;
  #isOver = false;
  /** Body of a response that is not an event stream. */
  #chunks: Uint8Array[] = [];
  #length = 0;
  #response: ObservedResponse | undefined;

  /** @param reserve - counts bytes of the response that are kept until its end; false drops them. */
  constructor(
    recorder: TrafficRecorder,
    participants: ExchangeParticipants,
    head: ObservedRequest,
    body: ObservedBody = '',
    reserve: (bytes: number) => boolean = () => true,
  ) {
    this.#recorder = recorder;
    this.#reserve = reserve;
    this.#participants = participants;
    this.#exchangeId = recorder.nextExchangeId();
    this.#began = recorder.now();
    this.#head = head;
    this.#decoder = new HttpExchangeDecoder(head);
    const at = this.#began;
    this.#enqueue(body, (observed) => {
      const text = this.#redactBody(observed, head.headers);
      this.#add('request', at, text, this.#decoder.request(text.text, isComplete(text)), this.#http());
    });
  }

  /**
   * Records the start of the response. Without `body`, the body follows in chunks.
   *
   * @param isEventStream - true if frames follow. By default, the headers tell.
   */
  response(
    status: number,
    headers: ObservedHeaders,
    body?: string | DeferredText,
    isEventStream = /^text\/event-stream\b/i.test(firstValue(headers['content-type']) ?? ''),
  ): void {
    if (this.#hasResponse || this.#isOver) return;
    this.#hasResponse = true;
    const at = this.#recorder.now();
    const response = { status, headers, at };
    this.#isEventStream = isEventStream;
    if (body !== undefined) this.#recordResponse(response, body);
    else if (this.#isEventStream) this.#recordResponse(response, '');
    else this.#response = response;
  }

  /** Records a chunk of the response body. */
  chunk(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const { decodeQueue } = this.#recorder;
    if (this.#response) {
      this.#length += bytes.length;
      if (this.#length <= maxDecodedLength && !decodeQueue.isFull && this.#reserve(bytes.length))
        this.#chunks.push(bytes);
      return;
    }
    if (!this.#isEventStream || decodeQueue.isFull) return;
    const at = this.#recorder.now();
    decodeQueue.add(bytes.length, () => this.#parse(bytes, at));
  }

  /** Records one server-sent event. */
  frame(text: string | DeferredText): void {
    const at = this.#recorder.now();
    this.#enqueue(text, (observed) => this.#frame(observed, at));
  }

  /** Records the end of the exchange. */
  end(end: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const at = this.#recorder.now();
    const response = this.#response;
    this.#response = undefined;
    if (response) this.#recordResponse(response, { bytes: this.#chunks, length: this.#length });
    this.#chunks = [];
    const isNormal = end === 'complete';
    if (!this.#isEventStream && isNormal) return;
    this.#recorder.decodeQueue.add(0, () => {
      const text = this.#redactText(isNormal ? 'The stream ended' : end.reason);
      this.#add('end', at, text, this.#decoder.end(text.text, isNormal));
    });
  }

  #recordResponse(response: ObservedResponse, body: ObservedBody): void {
    const { status, headers, at } = response;
    const isEventStream = this.#isEventStream;
    this.#enqueue(body, (observed) => {
      const text = this.#redactBody(observed, headers);
      const decoded = this.#decoder.response(
        { status, isEventStream, isComplete: isComplete(text) },
        text.text,
      );
      addApiKeys(this.#recorder.redactor, this.#decoder.keys);
      this.#add('response', at, text, decoded, this.#http({ status, headers }));
    });
  }

  #parse(bytes: Uint8Array, at: number): void {
    this.#chunkAt = at;
    this.#parser ??= new SseParser(
      { event: (event) => this.#frame(formatSseEvent(event).slice(0, -2), this.#chunkAt) },
      maxDecodedLength * 4,
    );
    try {
      this.#parser.push(bytes);
    } catch {
      this.#parser = new SseParser({ event: () => {} });
      const dropped = { text: '', truncatedBy: maxDecodedLength * 4 };
      this.#add('frame', at, dropped, { summary: 'event too large to decode' });
    }
  }

  #frame(body: ObservedBody, at: number): void {
    const text = this.#redactBody(body, {});
    this.#add('frame', at, text, this.#decoder.frame(text.text, isComplete(text)));
  }

  /** Queues a body for decoding; drops its content if the queue is full. */
  #enqueue(body: ObservedBody, work: (body: ObservedBody) => void): void {
    const { decodeQueue } = this.#recorder;
    const size = body.length;
    const observed = decodeQueue.isFull && size > 0 ? { bytes: [], length: size } : body;
    decodeQueue.add(observed === body ? size : 0, () => work(observed));
  }

  #add(
    kind: TrafficRecordKind,
    at: number,
    redacted: TruncatedText,
    decoded: DecodedContent | undefined,
    http?: HttpMessageInfo,
  ): void {
    const { from, to } = this.#participants;
    const isRequest = kind === 'request';
    this.#recorder.add({
      at,
      exchangeId: this.#exchangeId,
      kind,
      from: isRequest ? from : to(),
      to: isRequest ? to() : from,
      ...(http && { http }),
      ...this.#recorder.truncate(redacted.text, redacted.truncatedBy),
      ...(!isRequest && { elapsed: at - this.#began }),
      ...(decoded && { decoded }),
    });
  }

  #http(response?: { status: number; headers: ObservedHeaders }): HttpMessageInfo {
    const { method, url, headers } = this.#head;
    const redactor = this.#exchangeRedactor();
    return {
      method,
      url: redactor.redactUrl(url),
      ...(response && { status: response.status }),
      headers: redactor.redactHeaders(flattenHeaders(response ? response.headers : headers)),
    };
  }

  /** Redacts a body; binary content is replaced by a description. */
  #redactBody(body: ObservedBody, headers: ObservedHeaders): TruncatedText {
    if (typeof body === 'string') return this.#redactText(body);
    if ('read' in body) return this.#redactText(body.read());
    const type = firstValue(headers['content-type'])?.split(';', 1)[0]?.trim() ?? '';
    const text = decodeUtf8(body.bytes);
    if (text === undefined) return { text: `(${body.length} bytes${type === '' ? '' : ` of ${type}`})` };
    const recorded = body.bytes.reduce((sum, each) => sum + each.length, 0);
    return {
      ...this.#redactText(text),
      ...(body.length > recorded && { truncatedBy: body.length - recorded }),
    };
  }

  #redactText(text: string): TruncatedText {
    const decodable = text.length > maxDecodedLength ? text.slice(0, maxDecodedLength) : text;
    const truncatedBy = text.length - decodable.length;
    return { text: this.#exchangeRedactor().redactText(decodable), ...(truncatedBy > 0 && { truncatedBy }) };
  }

  #exchangeRedactor(): Redactor {
    if (this.#redactor) return this.#redactor;
    const { redactor } = this.#recorder;
    const credentials = Object.entries(flattenHeaders(this.#head.headers)).filter(([name]) =>
      redactor.isSecretHeader(name),
    );
    this.#redactor =
      credentials.length === 0 ? redactor : redactor.withHeaders(Object.fromEntries(credentials));
    return this.#redactor;
  }
}

/** Redacts the headers and query parameters that carry API keys according to a card. */
export function addApiKeys(redactor: Redactor, keys: readonly ApiKeyLocation[]): void {
  for (const { location, name } of keys) {
    if (location === 'query') redactor.addSecretQueryParameter(name);
    else if (location === 'header') redactor.addSecretHeader(name);
  }
}

function isComplete({ truncatedBy }: TruncatedText): boolean {
  return truncatedBy === undefined;
}

function decodeUtf8(bytes: readonly Uint8Array[]): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    let text = '';
    for (const each of bytes) text += decoder.decode(each, { stream: true });
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}

function firstValue(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function flattenHeaders(headers: ObservedHeaders): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) all[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  return all;
}
