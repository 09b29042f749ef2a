import type { ServerResponse } from 'node:http';
import { protocolErrors } from '../../drivers/error-response.ts';
import type { ReceivedCall, SentResponse } from './received-request.ts';
import type { ErrorReply, RawReply, Reply, StreamItem, StreamReply } from './reply.ts';
import { frameEvents } from './sse-framing.ts';
import { wireFormat } from './wire-content.ts';

/** Bytes of an endless response after which the suite ends it. */
const maxEndlessBytes = 128 * 1_024 * 1_024;
const maxRecorded = 65_536;

/** Writes replies over HTTP and records them. */
export class HttpReplyWriter {
  readonly #response: ServerResponse;
  readonly #record: SentResponse;
  /** Milliseconds for which a held stream stays open. */
  readonly #holdTime: number;

  constructor(response: ServerResponse, record: SentResponse, holdTime: number) {
    this.#response = response;
    this.#record = record;
    this.#holdTime = holdTime;
    response.on('close', () => {
      record.endedAt ??= performance.now();
      record.endedBy ??= response.writableFinished ? 'agent' : 'client';
    });
    response.on('error', () => {});
  }

  /** Writes the reply to a call. */
  async reply(call: ReceivedCall, reply: Reply): Promise<void> {
    const isStreaming = call.operation === 'stream' || call.operation === 'subscribe';
    switch (reply.kind) {
      case 'raw':
        await this.raw(reply);
        return;
      case 'stream':
        await this.#stream(call, reply);
        return;
      case 'error':
        this.#json(...encodeError(call, reply));
        return;
      case 'content': {
        const { content, delay = 0, alter = (wire) => wire } = reply;
        if (delay > 0) await this.#until('close', delay);
        if (this.#response.closed) return;
        const format = wireFormat(call.version, call.transport);
        const json = alter(isStreaming ? format.event(content) : format.result(content));
        if (isStreaming) await this.#stream(call, { kind: 'stream', events: [{ kind: 'wire', json }] });
        else this.#json(200, wrapResult(call, json));
        return;
      }
      case 'result':
        this.#json(200, wrapResult(call, reply.result));
    }
  }

  /** Writes a response that is none of the protocol. */
  async raw({ status, headers = {}, body = '', endless, isCut = false }: RawReply): Promise<void> {
    const length = Buffer.byteLength(body);
    // A broken response announces more bytes than it has.
    const size: Record<string, string> =
      endless === undefined ? { 'content-length': String(isCut ? length + 100 : length) } : {};
    this.#head(status, { ...size, ...headers });
    this.#write(body);
    if (endless !== undefined) await this.#writeEndlessly(endless);
    if (isCut) await this.#cut();
    else this.#response.end();
  }

  /** Writes a response with a JSON body. */
  json(value: unknown): void {
    this.#json(200, value);
  }

  #json(status: number, value: unknown): void {
    const text = JSON.stringify(value);
    this.#head(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    this.#write(text);
    this.#response.end();
  }

  async #stream(
    call: ReceivedCall,
    { events, framing = 'plain', end = 'close' }: StreamReply,
  ): Promise<void> {
    this.#head(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    const frames = events.map((item) => encodeEvent(call, item));
    for (const [index, chunk] of frameEvents(frames, framing).entries()) {
      if (this.#response.closed) return;
      this.#write(chunk);
      // Without pauses, the client would receive all chunks at once. One per byte would take long on a busy machine.
      if (framing !== 'bytes' || index % 16 === 0) await new Promise((resolve) => void setImmediate(resolve));
    }
    if (end === 'hold') await this.#hold();
    if (end === 'cut') await this.#cut();
    else this.#response.end();
  }

  #head(status: number, headers: Record<string, string>): void {
    this.#record.status = status;
    this.#record.headers = headers;
    this.#response.writeHead(status, headers);
    this.#response.flushHeaders();
  }

  #write(data: string | Uint8Array): boolean {
    const { length } = Buffer.from(data);
    if (this.#record.body.length < maxRecorded)
      this.#record.body += Buffer.from(data).toString().slice(0, maxRecorded);
    this.#record.bytes += length;
    return length === 0 || this.#response.write(data);
  }

  async #writeEndlessly(chunk: string): Promise<void> {
    const large = chunk.repeat(Math.max(1, Math.floor(65_536 / chunk.length)));
    while (!this.#response.closed && this.#record.bytes < maxEndlessBytes)
      if (!this.#write(large)) await this.#until('drain');
  }

  #hold(): Promise<void> {
    return this.#response.closed ? Promise.resolve() : this.#until('close', this.#holdTime);
  }

  /** Waits for an event of the response, or its end. */
  #until(event: 'drain' | 'close', limit?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = limit === undefined ? undefined : setTimeout(() => done(), limit);
      const done = (): void => {
        clearTimeout(timer);
        this.#response.off(event, done).off('close', done);
        resolve();
      };
      this.#response.on(event, done).on('close', done);
    });
  }

  /** Breaks the connection after all that was written has been sent. */
  async #cut(): Promise<void> {
    await new Promise((resolve) => void setTimeout(resolve, 20));
    this.#record.endedBy ??= 'agent';
    this.#response.destroy();
  }
}

function wrapResult({ transport, rpcId }: ReceivedCall, result: object): object {
  return transport === 'JSONRPC' ? { jsonrpc: '2.0', id: rpcId ?? null, result } : result;
}

function encodeEvent(call: ReceivedCall, item: StreamItem): object {
  if (item.kind === 'error') return encodeErrorEvent(call, item);
  const json = item.kind === 'wire' ? item.json : wireFormat(call.version, call.transport).event(item);
  return wrapResult(call, json);
}

/** Before 1.0 the body of an error over REST is not wrapped, so that it would look like an event. */
function encodeErrorEvent(call: ReceivedCall, reply: ErrorReply): object {
  const [, body] = encodeError(call, reply);
  return 'error' in body ? body : { error: body };
}

/** Returns the HTTP status and the body of an error. */
function encodeError(
  { version, transport, rpcId }: ReceivedCall,
  { error, message }: ErrorReply,
): [status: number, body: object] {
  const { code, http, reason } = protocolErrors[error];
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'a2a-protocol.org' };
  const details = version === '1.0' && reason !== undefined ? [info] : undefined;
  if (transport === 'JSONRPC')
    return [
      200,
      { jsonrpc: '2.0', id: rpcId ?? null, error: { code, message, ...(details ? { data: details } : {}) } },
    ];
  const [status] = http;
  if (version === '0.3') return [status, { code, message }];
  return [
    status,
    { error: { code: status, status: reason ?? 'INVALID_ARGUMENT', message, details: details ?? [] } },
  ];
}
