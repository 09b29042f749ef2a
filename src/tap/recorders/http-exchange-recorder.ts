import { SseParser } from '../../primitives/formats/sse.ts';
import type { Redactor } from '../../primitives/redaction.ts';
import { formatSseFrame } from '../sse-frame.ts';
import { HttpExchangeDecoder } from '../decode/http-decoder.ts';
import type { HttpMessageInfo, DecodedContent, TrafficRecord, TrafficRecordKind } from '../traffic-record.ts';
import { type TruncatedText, maxDecodedLength, type TrafficRecorder } from './traffic-recorder.ts';

/** Headers as whoever saw them has them. */
export type ObservedHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Between whom a request passes. Names may become known on the way. */
export interface ExchangeParticipants {
  readonly from: string;
  readonly to: () => string;
}

/** The head of a request as it was seen. */
export interface ObservedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: ObservedHeaders;
}

/** A body as it was seen: all of it, or its beginning and how long it was. */
export type ObservedBody = string | { readonly bytes: readonly Uint8Array[]; readonly length: number };

/** Why a trip ended; the rest of a stream is only expected of one that ended by itself. */
export type ExchangeEnd = 'whole' | { readonly why: string };

/** The head of an answer as it was seen. */
interface SeenAnswer {
  readonly status: number;
  readonly headers: ObservedHeaders;
  readonly at: number;
}

/** One request, its answer, the events of it and its end, on their way to the tape. */
export class HttpExchangeRecorder {
  readonly #recorder: TrafficRecorder;
  readonly #parties: ExchangeParticipants;
  readonly #trip: string;
  readonly #began: number;
  readonly #head: ObservedRequest;
  readonly #meaning: HttpExchangeDecoder;
  /** Whatever the caller proves itself with must not come back in a body either. */
  #secrets: Redactor | undefined;
  #parser: SseParser | undefined;
  /** When the bytes that are being parsed passed. */
  #chunkAt = 0;
  #isEvents = false;
  #isAnswered = false;
  #isOver = false;
  /** What came of a body that is not a stream. */
  #gathered: Uint8Array[] = [];
  #length = 0;
  #answer: SeenAnswer | undefined;

  constructor(
    recorder: TrafficRecorder,
    parties: ExchangeParticipants,
    head: ObservedRequest,
    body: ObservedBody = '',
  ) {
    this.#recorder = recorder;
    this.#parties = parties;
    this.#trip = recorder.nextTrip();
    this.#began = recorder.now();
    this.#head = head;
    this.#meaning = new HttpExchangeDecoder(head);
    const at = this.#began;
    this.#later(body, (seen) => {
      const text = this.#clean(seen, head.headers);
      this.#add('request', at, text, this.#meaning.request(text.text, isWhole(text)), this.#http());
    });
  }

  /** The answer begins; its body is here, or comes in chunks, or is none. */
  response(status: number, headers: ObservedHeaders, body?: string): void {
    if (this.#isAnswered || this.#isOver) return;
    this.#isAnswered = true;
    const at = this.#recorder.now();
    const answer = { status, headers, at };
    const isEvents = /^text\/event-stream\b/i.test(valueOf(headers['content-type']) ?? '');
    this.#isEvents = isEvents;
    if (body !== undefined) this.#respond(answer, body);
    else if (isEvents) this.#respond(answer, '');
    else this.#answer = answer;
  }

  /** Some bytes of the answer passed. */
  chunk(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const { backlog } = this.#recorder;
    if (this.#answer) {
      this.#length += bytes.length;
      if (this.#length <= maxDecodedLength && !backlog.isFull) this.#gathered.push(bytes);
      return;
    }
    if (!this.#isEvents || backlog.isFull) return;
    const at = this.#recorder.now();
    backlog.add(bytes.length, () => this.#parse(bytes, at));
  }

  /** One event of the answer passed, as its text. */
  frame(text: string): void {
    const at = this.#recorder.now();
    this.#later(text, (seen) => this.#frame(seen, at));
  }

  /** Nothing follows. */
  end(ending: ExchangeEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const at = this.#recorder.now();
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer) this.#respond(answer, { bytes: this.#gathered, length: this.#length });
    this.#gathered = [];
    const isStream = this.#isEvents;
    if (!isStream && ending === 'whole') return;
    this.#recorder.backlog.add(0, () => {
      const text = this.#text(ending === 'whole' ? 'The stream ended' : ending.why);
      this.#add('end', at, text, this.#meaning.end(text.text, ending === 'whole'));
    });
  }

  #respond(answer: SeenAnswer, body: ObservedBody): void {
    const { status, headers, at } = answer;
    const isEvents = this.#isEvents;
    this.#later(body, (seen) => {
      const text = this.#clean(seen, headers);
      const meaning = this.#meaning.response({ status, isEvents, isWhole: isWhole(text) }, text.text);
      for (const { location, name } of this.#meaning.keys) {
        // A card says where its agent wants its keys.
        if (location === 'query') this.#recorder.secrets.addSecretQueryParameter(name);
        else if (location === 'header') this.#recorder.secrets.addSecretHeader(name);
      }
      this.#add('response', at, text, meaning, this.#http({ status, headers }));
    });
  }

  #parse(bytes: Uint8Array, at: number): void {
    this.#chunkAt = at;
    this.#parser ??= new SseParser(
      { event: (event) => this.#frame(formatSseFrame(event), this.#chunkAt) },
      maxDecodedLength * 4,
    );
    try {
      this.#parser.push(bytes);
    } catch {
      this.#parser = new SseParser({ event: () => {} });
      this.#add(
        'frame',
        at,
        { text: '', truncatedBy: maxDecodedLength * 4 },
        { summary: 'an event too long to be looked at' },
      );
    }
  }

  #frame(body: ObservedBody, at: number): void {
    const text = this.#text(body as string);
    this.#add('frame', at, text, this.#meaning.frame(text.text, isWhole(text)));
  }

  /** Has a text looked at later; without a text where too much waits already. */
  #later(body: ObservedBody, work: (body: ObservedBody) => void): void {
    const { backlog } = this.#recorder;
    const size = body.length;
    const seen = backlog.isFull && size > 0 ? { bytes: [], length: size } : body;
    backlog.add(seen === body ? size : 0, () => work(seen));
  }

  #add(
    kind: TrafficRecordKind,
    at: number,
    clean: TruncatedText,
    meaning: DecodedContent | undefined,
    http?: HttpMessageInfo,
  ): void {
    const { from, to } = this.#parties;
    const isForth = kind === 'request';
    const passage: Omit<TrafficRecord, 'sequence'> = {
      at,
      exchangeId: this.#trip,
      kind,
      from: isForth ? from : to(),
      to: isForth ? to() : from,
      ...(http && { http }),
      ...this.#recorder.kept(clean.text, clean.truncatedBy),
      ...(kind !== 'request' && { elapsed: at - this.#began }),
      ...(meaning && { decoded: meaning }),
    };
    this.#recorder.add(passage);
  }

  #http(answer?: { status: number; headers: ObservedHeaders }): HttpMessageInfo {
    const { method, url, headers } = this.#head;
    const secrets = this.#secretsOf();
    return {
      method,
      url: secrets.redactUrl(url),
      ...(answer && { status: answer.status }),
      headers: secrets.redactHeaders(flat(answer ? answer.headers : headers)),
    };
  }

  /** What is to be kept of a body; bytes that are no text are described. */
  #clean(body: ObservedBody, headers: ObservedHeaders): TruncatedText {
    if (typeof body === 'string') return this.#text(body);
    const type = valueOf(headers['content-type'])?.split(';', 1)[0]?.trim() ?? '';
    const text = decoded(body.bytes);
    if (text === undefined) return { text: `(${body.length} bytes${type === '' ? '' : ` of ${type}`})` };
    const seen = body.bytes.reduce((sum, each) => sum + each.length, 0);
    return { ...this.#text(text), ...(body.length > seen && { truncatedBy: body.length - seen }) };
  }

  #text(text: string): TruncatedText {
    const seen = text.length > maxDecodedLength ? text.slice(0, maxDecodedLength) : text;
    const truncatedBy = text.length - seen.length;
    return { text: this.#secretsOf().redactText(seen), ...(truncatedBy > 0 && { truncatedBy }) };
  }

  #secretsOf(): Redactor {
    if (this.#secrets) return this.#secrets;
    const { secrets } = this.#recorder;
    const proofs = Object.entries(flat(this.#head.headers)).filter(([name]) => secrets.isSecretHeader(name));
    this.#secrets = proofs.length === 0 ? secrets : secrets.withHeaders(Object.fromEntries(proofs));
    return this.#secrets;
  }
}

function isWhole({ truncatedBy }: TruncatedText): boolean {
  return truncatedBy === undefined;
}

function decoded(bytes: readonly Uint8Array[]): string | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    let text = '';
    for (const each of bytes) text += decoder.decode(each, { stream: true });
    return text.includes('\u0000') ? undefined : text;
  } catch {
    return undefined;
  }
}

function valueOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : header?.[0];
}

function flat(headers: ObservedHeaders): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined) all[name.toLowerCase()] = typeof value === 'string' ? value : value.join(', ');
  return all;
}
