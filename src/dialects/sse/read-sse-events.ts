import { type ServerSentEvent, SseParser } from '../../primitives/formats/sse.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Dialect, EventReader, StreamOpenContext } from '../dialect.ts';
import { dialectForVersion } from '../negotiation.ts';
import { lenientMode } from '../translation-loss.ts';

/** Options of {@link readSseEvents}. */
export interface ReadSseOptions {
  /** Protocol version of the events. @defaultValue 1.0 */
  readonly version?: ProtocolVersion;
  /** Ends the iteration and cancels the stream. */
  readonly signal?: AbortSignal;
  /** Maximum length of a line and of the data of an event, in characters. @defaultValue 16 MiB */
  readonly maxEventLength?: number;
  /** The request that opened the stream; versions before 1.0 do not repeat all of its ids. */
  readonly opening?: StreamOpenContext;
}

/** An event, or the error of one that cannot be read; the stream continues after it. */
export type SseReadResult =
  | { readonly event: StreamEvent; readonly error?: undefined; readonly id: string | undefined }
  | { readonly event?: undefined; readonly error: A2AError; readonly id: string | undefined };

/**
 * Reads stream events from server-sent events, plain or in JSON-RPC responses. Leaving the loop cancels the stream.
 *
 * @throws FrameTooLargeError if an event exceeds `maxEventLength`
 *
 * @example
 * ```ts
 * const response = await fetch(url, { headers: { accept: 'text/event-stream' } });
 * for await (const { event, error } of readSseEvents(response.body)) console.log(event ?? error.message);
 * ```
 */
export async function* readSseEvents(
  body: ReadableStream<Uint8Array> | null,
  { version = '1.0', signal, maxEventLength = 16 * 1024 * 1024, opening = {} }: ReadSseOptions = {},
): AsyncGenerator<SseReadResult, void, undefined> {
  if (!body) return;
  const dialect = dialectForVersion(version);
  const reader = dialect.eventReader(opening);
  let pending: SseReadResult[] = [];
  const parser = new SseParser(
    { event: (each) => void pending.push(...decodeEvent(each, dialect, reader)) },
    maxEventLength,
  );
  const source = body.getReader();
  const cancel = (): void => void source.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    if (signal?.aborted) return;
    for (;;) {
      const { done, value } = await source.read();
      if (done || signal?.aborted) return;
      parser.push(value);
      const results = pending;
      pending = [];
      for (const result of results) {
        yield result;
        if (signal?.aborted) return;
      }
    }
  } catch (thrown) {
    // A canceled body may reject the pending read.
    if (!signal?.aborted) throw thrown;
  } finally {
    signal?.removeEventListener('abort', cancel);
    cancel();
  }
}

function decodeEvent({ data, id }: ServerSentEvent, dialect: Dialect, reader: EventReader): SseReadResult[] {
  const wire = asJsonObject(parseJsonOrUndefined(data));
  if (!wire) return [{ error: new A2AError('INVALID_AGENT_RESPONSE', 'The event is not a JSON object'), id }];
  try {
    const isResponse = 'jsonrpc' in wire;
    if (isResponse && wire.error !== undefined && wire.error !== null)
      return [{ error: dialect.rpcError.read(wire.error), id }];
    const events = reader.read(isResponse ? wire.result : wire, lenientMode());
    return events.map((event) => ({ event, id }));
  } catch (thrown) {
    const { message } = A2AError.from(thrown);
    return [{ error: new A2AError('INVALID_AGENT_RESPONSE', message, { cause: thrown }), id }];
  }
}
