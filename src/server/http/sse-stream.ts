import type { EventWriter } from '../../dialects/dialect.ts';
import { atEndOfTurn } from '../../primitives/clock.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { isPullStream, type Waiter } from '../../primitives/pull-stream.ts';
import { type ByteReservation, minCountedBytes } from '../limits/byte-budget.ts';
import { type HttpServerRequest, singleHeader } from './http-message.ts';
import type { StreamEnvelope } from './stream-envelope.ts';
import type { SerializationCache } from '../operations/serialization-cache.ts';
import type { TrafficListener } from '../telemetry/traffic-observer.ts';

/** Destination of a stream: the part of a Node `Writable` that is used. */
export interface TextSink {
  /** @returns false to signal backpressure: wait for `drain` before the next write. */
  write(text: string): boolean;
  /** Registers a callback for the end of the backpressure. */
  once(event: 'drain', callback: () => void): unknown;
  /** @param last - text to write before the end. */
  end(last?: string): unknown;
  /** Closes the connection without completing the response. */
  destroy(): unknown;
}

/** Default interval of SSE heartbeats, in milliseconds. */
export const defaultHeartbeatInterval = 15_000;

/** Size of the buffer, in characters, above which it is written before the end of the event-loop turn. */
const maxBuffered = 64 * 1_024;

/** Streams with buffered text in this event-loop turn. */
let pendingStreams: SseStream[] = [];

/**
 * Writes a stream at the end of the event-loop turn, together with all others. Batching is faster than switching between
 * agents and sockets for every event.
 */
function flushLater(stream: SseStream): void {
  if (pendingStreams.push(stream) === 1) atEndOfTurn(flushAll);
}

function flushAll(): void {
  const streams = pendingStreams;
  pendingStreams = [];
  for (const stream of streams) stream.flush();
}

/**
 * Writes events as server-sent events. All events of one event-loop turn are written at once. With backpressure, no
 * further events are read from the task until the client has caught up.
 */
export class SseStream implements Waiter {
  readonly #events: AsyncIterator<StreamEvent>;
  readonly #envelope: StreamEnvelope;
  readonly #cache: SerializationCache | undefined;
  readonly #writer: EventWriter;
  #first: StreamEvent | undefined;
  #sink: TextSink | undefined = undefined;
  #buffer = '';
  #isFlushScheduled = false;
  #isOver = false;
  #lastStatus: TaskStatusUpdateEvent | undefined = undefined;
  /** True if the last status was sent only as part of a task. */
  #wasStatusInTask = false;
  /** Observer of the written frames, if there is one. */
  traffic: Pick<TrafficListener, 'frame' | 'ended'> | undefined = undefined;
  /** Opens the reservation of unsent output. */
  openOutput: (() => ByteReservation) | undefined = undefined;
  #output: ByteReservation | undefined = undefined;
  /** True if the stream was aborted because too much output was not read. */
  hasExceededOutput = false;
  /** Number of events sent. */
  frames = 0;
  /** True if all events were sent, rather than that the server stops. */
  isComplete = false;
  /** Error that ended the stream. */
  error: A2AError | undefined = undefined;
  /** Start of the current backpressure, in milliseconds of the monotonic clock; 0 if there is none. */
  stalledSince = 0;

  /**
   * @param texts - shared serialization, if all clients receive the same JSON for an event.
   */
  constructor(
    events: AsyncIterator<StreamEvent>,
    first: StreamEvent | undefined,
    envelope: StreamEnvelope,
    writer: EventWriter,
    cache: SerializationCache | undefined,
  ) {
    this.#events = events;
    this.#first = first;
    this.#envelope = envelope;
    this.#writer = writer;
    this.#cache = cache;
  }

  /** Writes all events to a sink and ends it, unless the client disconnects before. */
  pipe(sink: TextSink): void {
    this.#sink = sink;
    const first = this.#first;
    this.#first = undefined;
    if (first) this.#bufferEvent(first);
    this.#sendAvailable();
  }

  /** Called when new events are available. */
  wake(): void {
    this.#sendAvailable();
  }

  /** Sends available events, then waits for the next one without a promise if possible. */
  #sendAvailable(): void {
    const events = this.#events;
    try {
      if (isPullStream(events)) {
        while (!this.#isOver && this.stalledSince === 0) {
          const event = events.pull();
          if (event) this.#bufferEvent(event);
          else if (events.isOver) this.#finish();
          else if (events.park(this)) return;
          else break;
        }
      }
      if (!this.#isOver && this.stalledSince === 0) void this.#sendNext(events);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Awaits one event of a stream that cannot be pulled synchronously. */
  async #sendNext(events: AsyncIterator<StreamEvent>): Promise<void> {
    try {
      const step = await events.next();
      if (this.#isOver) return;
      if (step.done) this.#finish();
      else this.#bufferEvent(step.value);
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#isOver) this.#sendAvailable();
  }

  /** Writes the final events of the dialect and ends the stream. */
  #finish(): void {
    this.isComplete = true;
    for (const wire of this.#writer.end(this.#lastStatus, this.#wasStatusInTask))
      this.#writeFrame(this.#cache ? this.#cache.serializeWire(wire) : JSON.stringify(wire));
    this.end();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.error = A2AError.from(error);
    const frame = this.#envelope.error(this.error);
    if (frame !== '') this.#bufferFrame(frame);
    this.end();
  }

  /** Ends the stream after the current frame. */
  end(): void {
    if (this.#isOver) return;
    const last = this.#buffer;
    this.#buffer = '';
    this.#isFlushScheduled = false;
    this.traffic?.ended(this.error ? 'failed' : 'complete');
    this.detach();
    this.#sink?.end(last === '' ? undefined : last);
  }

  /** Closes the connection of a client that does not read. */
  abort(): void {
    this.traffic?.ended('stalled');
    this.detach();
    this.#sink?.destroy();
  }

  /** Stops the stream because the client has disconnected. */
  detach(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#output?.release();
    this.traffic?.ended('disconnected');
    // Errors during the cleanup of the source do not matter here.
    this.#events.return?.().catch(() => {});
  }

  /** Sends an SSE heartbeat, unless there is backpressure or buffered text. */
  sendHeartbeat(): void {
    const { heartbeat } = this.#envelope;
    if (heartbeat !== '' && !this.#isOver && this.stalledSince === 0 && this.#buffer === '')
      this.#write(heartbeat);
  }

  #bufferEvent(event: StreamEvent): void {
    if (event.kind === 'status') {
      this.#lastStatus = event;
      this.#wasStatusInTask = false;
    } else if (event.kind === 'task') {
      this.#wasStatusInTask = true;
      const { id, contextId, status } = event.task;
      this.#lastStatus = { kind: 'status', taskId: id, contextId, status };
    }
    if (this.#cache) this.#writeFrame(this.#cache.serializeEvent(event), event.sequence);
    else this.#writeFrames(serializeEvent(this.#writer, event), event.sequence);
    if (this.#buffer.length > maxBuffered) this.#flush();
    else if (!this.#isFlushScheduled && this.#buffer !== '') {
      this.#isFlushScheduled = true;
      flushLater(this);
    }
  }

  /** Only the last of several frames of an event has the `id:`, so that `Last-Event-ID` covers all of them. */
  #writeFrames(cache: readonly string[], sequence: number | undefined): void {
    const last = cache.length - 1;
    for (let i = 0; i <= last; i++) this.#writeFrame(cache[i] as string, i === last ? sequence : undefined);
  }

  #writeFrame(text: string, sequence?: number): void {
    this.frames++;
    const { start, end, hasIds } = this.#envelope;
    this.#bufferFrame(
      sequence === undefined || !hasIds ? `${start}${text}${end}` : `id: ${sequence}\n${start}${text}${end}`,
    );
  }

  #bufferFrame(frame: string): void {
    this.#buffer += frame;
    this.traffic?.frame(frame);
  }

  /** Writes the buffered text. */
  flush(): void {
    if (this.#isFlushScheduled) this.#flush();
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    const text = this.#buffer;
    if (text === '' || this.#isOver) return;
    this.#buffer = '';
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#sink?.write(text) !== false || this.stalledSince > 0) return;
    this.stalledSince = performance.now();
    if (text.length >= minCountedBytes && this.openOutput) {
      this.#output ??= this.openOutput();
      if (!this.#output.grow(text.length)) {
        this.hasExceededOutput = true;
        this.abort();
        return;
      }
    }
    this.#sink.once('drain', () => {
      this.stalledSince = 0;
      this.#output?.release();
      if (!this.#isOver) this.#sendAvailable();
    });
  }
}

function serializeEvent(writer: EventWriter, event: StreamEvent): readonly string[] {
  return writer.texts?.(event) ?? writer.write(event).map((wire) => JSON.stringify(wire));
}

/** Sets `afterSequence` of a request from the `Last-Event-ID` header of a client that resumes a stream. */
export function readLastEventId(
  { headers }: HttpServerRequest,
  operationRequest: { afterSequence?: number },
): void {
  const lastEventId = singleHeader(headers, 'last-event-id');
  if (lastEventId === undefined) return;
  const after = Number(lastEventId);
  if (lastEventId.trim() !== '' && Number.isSafeInteger(after) && after >= 0)
    operationRequest.afterSequence = after;
}
