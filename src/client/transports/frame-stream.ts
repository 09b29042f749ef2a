import { A2AError } from '../../protocol/errors.ts';
import type { StreamFrame, FrameStream } from './transport-binding.ts';
import { type OutboundRequest, requestStreaming } from '../http/send-request.ts';
import type { HttpResponse } from '../http/http-client.ts';
import type { ClientSettings } from '../connect-options.ts';
import { type ServerSentEvent, SseParser } from '../../primitives/formats/sse.ts';
import { IdleWatchdog } from '../streaming/idle-watchdog.ts';

/** Decodes responses of a stream operation. */
export interface FrameDecoder {
  decodeFrame(event: ServerSentEvent): StreamFrame;
  /** Decodes a response that is not an event stream, or throws the error in it. */
  decodeBuffered(response: HttpResponse, text: string): readonly StreamFrame[];
}

/** Opens a stream. The idle timeout starts with the request, so that a missing response is detected too. */
export async function openFrameStream(
  settings: ClientSettings,
  outbound: OutboundRequest,
  decoder: FrameDecoder,
  signal: AbortSignal,
): Promise<FrameStream> {
  const watchdog = new IdleWatchdog(settings, signal);
  try {
    const response = await requestStreaming(settings, outbound, watchdog.signal);
    if (response.status < 300 && response.header('content-type')?.startsWith('text/event-stream')) {
      return readFrames(settings, { outbound, decoder, response, watchdog });
    }
    const text = await response.text(settings.limits.body);
    const frames = decoder.decodeBuffered(response, text);
    watchdog.stop();
    return once(frames);
  } catch (thrown) {
    watchdog.stop();
    throw watchdog.toError(thrown, outbound);
  }
}

async function* once(frames: readonly StreamFrame[]): AsyncGenerator<readonly StreamFrame[]> {
  yield frames;
}

/** Returns an empty frame for an event that cannot be decoded, and reports a warning. */
export function skipFrame(
  settings: ClientSettings,
  event: ServerSentEvent | undefined,
  why: string,
  cause?: unknown,
): StreamFrame {
  const message = `Skipped an invalid stream event: ${why}`;
  settings.warn({
    kind: 'frame',
    message,
    error: new A2AError('INVALID_AGENT_RESPONSE', message, { cause: cause ?? event?.data.slice(0, 2000) }),
  });
  return { events: [], id: event?.id };
}

interface OpenStream {
  outbound: OutboundRequest;
  decoder: FrameDecoder;
  response: HttpResponse;
  watchdog: IdleWatchdog;
}

async function* readFrames(
  settings: ClientSettings,
  { outbound, decoder, response, watchdog }: OpenStream,
): AsyncGenerator<readonly StreamFrame[]> {
  let batch: StreamFrame[] = [];
  const parser = new SseParser(
    {
      event: (event) => batch.push(decoder.decodeFrame(event)),
      retry: (milliseconds) => batch.push({ events: [], id: undefined, retry: milliseconds }),
    },
    settings.limits.frame,
  );
  try {
    for await (const chunk of response.chunks()) {
      watchdog.reset();
      parser.push(chunk);
      if (batch.length === 0) continue;
      const ready = batch;
      batch = [];
      watchdog.pause();
      yield ready;
      watchdog.reset();
    }
  } catch (thrown) {
    // Frames before the error are valid.
    if (batch.length > 0) yield batch;
    throw watchdog.toError(thrown, outbound);
  } finally {
    watchdog.stop();
  }
}
