import type { EventWriter } from '../../dialects/dialect.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { isPullStream, type Waiter } from '../../primitives/pull-stream.ts';
import type { StreamEnvelope } from './stream-envelope.ts';
import type { SerializationCache } from '../operations/serialization-cache.ts';
import type { TrafficListener } from '../telemetry/traffic-observer.ts';

/** Where the text of a stream goes: as much of a writable stream of Node as is needed. */
export interface TextSink {
  /** @returns false when the reader should catch up first. */
  write(text: string): boolean;
  /** Calls back once when the reader has caught up. */
  once(event: 'drain', callback: () => void): unknown;
  /** @param last - what is still to be written. */
  end(last?: string): unknown;
  /** Breaks the connection off. */
  destroy(): unknown;
}

/** How many characters are gathered before they are written even though more is coming. */
const maxGathered = 64 * 1_024;

/** A comment, which keeps the connection alive and means nothing. */
const heartbeat = ':\n\n';

/** The streams that have something to write in this turn of the event loop. */
let gathering: SseStream[] = [];

/** Outside of Node a turn is as long as a timer takes. */
const atEndOfTurn: (callback: () => void) => unknown =
  typeof setImmediate === 'function' ? setImmediate : (callback) => setTimeout(callback, 0);

/**
 * Has a stream written at the end of this turn, with all others that have something to say. To do one kind of work at a
 * time is quicker than to change between agents and sockets with every event.
 */
function flushLater(stream: SseStream): void {
  if (gathering.push(stream) === 1) atEndOfTurn(flushAll);
}

function flushAll(): void {
  const streams = gathering;
  gathering = [];
  for (const stream of streams) stream.flush();
}

/**
 * One server-sent event stream on its way out. Everything that happens in one turn of the event loop is written at
 * once, and nothing is read from the task while the reader has not caught up.
 */
export class SseStream implements Waiter {
  readonly #events: AsyncIterator<StreamEvent>;
  readonly #envelope: StreamEnvelope;
  readonly #texts: SerializationCache | undefined;
  readonly #writer: EventWriter;
  #first: StreamEvent | undefined;
  #sink: TextSink | undefined = undefined;
  #text = '';
  #isFlushing = false;
  #isOver = false;
  #lastStatus: TaskStatusUpdateEvent | undefined = undefined;
  /** True while the last status went out within a task only. */
  #wasWithin = false;
  /** Sees what is written, if anybody wants to. */
  wire: Pick<TrafficListener, 'frame' | 'ended'> | undefined = undefined;
  /** How many events were sent. */
  frames = 0;
  /** Why the stream failed in its middle. */
  fault: A2AError | undefined = undefined;
  /** When the reader stopped reading, in milliseconds; 0 while it reads. */
  stalledSince = 0;

  /**
   * @param texts - shared texts, where every reader of an event gets the same.
   */
  constructor(
    events: AsyncIterator<StreamEvent>,
    first: StreamEvent | undefined,
    envelope: StreamEnvelope,
    writer: EventWriter,
    texts: SerializationCache | undefined,
  ) {
    this.#events = events;
    this.#first = first;
    this.#envelope = envelope;
    this.#writer = writer;
    this.#texts = texts;
  }

  /** Sends everything to a sink, which hears of the end, unless the reader leaves before. */
  pipe(sink: TextSink): void {
    this.#sink = sink;
    const first = this.#first;
    this.#first = undefined;
    if (first) this.#gather(first);
    this.#go();
  }

  /** There is more to send. */
  wake(): void {
    this.#go();
  }

  /** Sends what is there, and sees to it that it hears of what is not there yet. */
  #go(): void {
    const events = this.#events;
    try {
      if (isPullStream(events)) {
        while (!this.#isOver && this.stalledSince === 0) {
          const event = events.pull();
          if (event) this.#gather(event);
          else if (events.isOver) this.#conclude();
          else if (events.park(this)) return;
          else break;
        }
      }
      if (!this.#isOver && this.stalledSince === 0) void this.#step(events);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Awaits one event of a stream that cannot be pulled, or not now. */
  async #step(events: AsyncIterator<StreamEvent>): Promise<void> {
    try {
      const step = await events.next();
      if (this.#isOver) return;
      if (step.done) this.#conclude();
      else this.#gather(step.value);
    } catch (error) {
      this.#fail(error);
    }
    if (!this.#isOver) this.#go();
  }

  /** Says what is still to be said. */
  #conclude(): void {
    for (const wire of this.#writer.end(this.#lastStatus, this.#wasWithin)) this.#frame(JSON.stringify(wire));
    this.end();
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.fault = A2AError.from(error);
    this.#add(`data: ${this.#envelope.error(this.fault)}\n\n`);
    this.end();
  }

  /** Ends the stream now, at the end of a frame. */
  end(): void {
    if (this.#isOver) return;
    const last = this.#text;
    this.#text = '';
    this.#isFlushing = false;
    this.wire?.ended(this.fault ? 'failed' : 'whole');
    this.detach();
    this.#sink?.end(last === '' ? undefined : last);
  }

  /** Gives a reader up that does not read. */
  abort(): void {
    this.wire?.ended('stalled');
    this.detach();
    this.#sink?.destroy();
  }

  /** The reader is gone. */
  detach(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.wire?.ended('gone');
    // How whoever tells the story tidies up is its own affair.
    this.#events.return?.().catch(() => {});
  }

  /** Sends a sign of life, unless the reader does not read anyway. */
  sendHeartbeat(): void {
    if (!this.#isOver && this.stalledSince === 0 && this.#text === '') this.#write(heartbeat);
  }

  #gather(event: StreamEvent): void {
    if (event.kind === 'status') {
      this.#lastStatus = event;
      this.#wasWithin = false;
    } else if (event.kind === 'task') {
      this.#wasWithin = true;
      const { id, contextId, status } = event.task;
      this.#lastStatus = { kind: 'status', taskId: id, contextId, status };
    }
    if (this.#texts) this.#frame(this.#texts.ofEvent(event), event.sequence);
    else this.#frameAll(textsOf(this.#writer, event), event.sequence);
    if (this.#text.length > maxGathered) this.#flush();
    else if (!this.#isFlushing && this.#text !== '') {
      this.#isFlushing = true;
      flushLater(this);
    }
  }

  /** Only the last of several forms carries the number: whoever has it has them all. */
  #frameAll(texts: readonly string[], sequence: number | undefined): void {
    const last = texts.length - 1;
    for (let i = 0; i <= last; i++) this.#frame(texts[i] as string, i === last ? sequence : undefined);
  }

  #frame(text: string, sequence?: number): void {
    this.frames++;
    const data = this.#envelope.event(text);
    this.#add(sequence === undefined ? `data: ${data}\n\n` : `id: ${sequence}\ndata: ${data}\n\n`);
  }

  #add(frame: string): void {
    this.#text += frame;
    this.wire?.frame(frame);
  }

  /** Writes what was gathered. */
  flush(): void {
    if (this.#isFlushing) this.#flush();
  }

  #flush(): void {
    this.#isFlushing = false;
    const text = this.#text;
    if (text === '' || this.#isOver) return;
    this.#text = '';
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#sink?.write(text) !== false || this.stalledSince > 0) return;
    this.stalledSince = Date.now();
    this.#sink.once('drain', () => {
      this.stalledSince = 0;
      if (!this.#isOver) this.#go();
    });
  }
}

function textsOf(writer: EventWriter, event: StreamEvent): readonly string[] {
  return writer.texts?.(event) ?? writer.write(event).map((wire) => JSON.stringify(wire));
}
