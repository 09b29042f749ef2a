import type { StreamEvent, TaskArtifactUpdateEvent } from '../../protocol/event.ts';
import { joinTexts, type Part } from '../../protocol/part.ts';
import { isTask, type TaskState } from '../../protocol/task.ts';
import type { ChatEvent, KeptTurn } from '../console-api.ts';
import type { JsonEventStream } from '../json-event-stream.ts';

/** Maximum size of the events of a turn, in characters of JSON. */
const maxEventCharacters = 2 * 1_024 * 1_024;
/** Maximum number of events of a turn, after joining. */
const maxEvents = 2_000;
/** Maximum size of a file of the user that is kept, in characters of base64. */
const maxFileCharacters = 512 * 1_024;

/** A message of the user with the events of its answer. Any number of pages can follow it. */
export class ConversationTurn {
  readonly id: string;
  readonly at: number;
  readonly input: readonly Part[];
  /** The task that the message continued. */
  readonly continuedTask: string | undefined;
  /** Aborts when the user stops waiting. */
  readonly stop = new AbortController();
  omitted: number;
  isRunning: boolean;
  /** The task of the answer. */
  taskId: string | undefined = undefined;
  state: TaskState | undefined = undefined;
  readonly #events: ChatEvent[] = [];
  #characters = 0;
  readonly #followers = new Set<(event: ChatEvent) => Promise<unknown>>();
  readonly #waiting = new Set<() => void>();

  constructor({ id, at, input, taskId, events, omitted, isRunning }: KeptTurn) {
    this.id = id;
    this.at = at;
    this.input = input.map(withoutLargeFile);
    this.continuedTask = taskId;
    this.omitted = omitted;
    this.isRunning = isRunning;
    for (const event of events) this.#keep(event);
  }

  /** Size in characters of JSON, about. */
  get size(): number {
    return this.#characters + JSON.stringify(this.input).length;
  }

  /** Adds an event and waits until all pages have received it. */
  async add(event: ChatEvent): Promise<void> {
    this.#keep(event);
    await Promise.all([...this.#followers].map((follow) => follow(event)));
  }

  /** Ends the turn for all pages. */
  end(): void {
    this.isRunning = false;
    this.release();
  }

  /** Ends the streams of all pages; the turn continues after a restart. */
  release(): void {
    for (const done of this.#waiting) done();
  }

  /** Sends the events so far, then new ones until the end of the turn. */
  async follow(stream: JsonEventStream): Promise<void> {
    let sent = this.#events.length === 0 ? Promise.resolve(true) : stream.send(...this.#events);
    if (this.isRunning) {
      const follower = (event: ChatEvent) => (sent = sent.then(() => stream.send(event)));
      this.#followers.add(follower);
      await stream.waitFor((done) => {
        this.#waiting.add(done);
        return () => this.#waiting.delete(done);
      });
      this.#followers.delete(follower);
    }
    await sent;
  }

  toJSON(): KeptTurn {
    const { id, at, input, continuedTask, omitted, isRunning } = this;
    const taskId = continuedTask === undefined ? {} : { taskId: continuedTask };
    return { id, at, input, ...taskId, events: this.#events, omitted, isRunning };
  }

  #keep(event: ChatEvent): void {
    if (event.kind === 'event') this.#observe(event.event);
    if (event.kind === 'result' && isTask(event.result)) {
      this.taskId = event.result.id;
      this.state = event.result.status.state;
    }
    const joined = joinChunks(this.#events.at(-1), event);
    const size = JSON.stringify(event).length;
    const isLast = event.kind === 'done' || event.kind === 'error';
    const isFull = this.#characters + size > maxEventCharacters || this.#events.length >= maxEvents;
    if (isFull && !isLast) {
      this.omitted++;
      return;
    }
    this.#characters += size;
    if (joined) this.#events[this.#events.length - 1] = joined;
    else this.#events.push(event);
  }

  #observe(event: StreamEvent): void {
    if (event.kind === 'task') {
      this.taskId = event.task.id;
      this.state = event.task.status.state;
    } else if (event.kind !== 'message') {
      this.taskId ??= event.taskId;
      if (event.kind === 'status') this.state = event.status.state;
    }
  }
}

/** Joins a chunk with the event before it, so that a streamed text is one event. */
function joinChunks(last: ChatEvent | undefined, next: ChatEvent): ChatEvent | undefined {
  if (last?.kind !== 'event' || next.kind !== 'event') return undefined;
  const [before, chunk] = [last.event, next.event];
  if (before.kind !== 'artifact' || chunk.kind !== 'artifact' || !isContinued(before, chunk))
    return undefined;
  const parts = joinTexts([...before.artifact.parts, ...chunk.artifact.parts]);
  const event: TaskArtifactUpdateEvent = {
    ...chunk,
    artifact: { ...before.artifact, parts },
    ...(before.append !== undefined && { append: before.append }),
  };
  if (before.append === undefined) delete event.append;
  return { kind: 'event', event, findings: [...last.findings, ...next.findings].slice(-maxFindings) };
}

const maxFindings = 100;

function isContinued(
  before: TaskArtifactUpdateEvent,
  { artifact, append }: TaskArtifactUpdateEvent,
): boolean {
  return (
    append === true &&
    artifact.artifactId === before.artifact.artifactId &&
    artifact.metadata === undefined &&
    artifact.extensions === undefined
  );
}

function withoutLargeFile(part: Part): Part {
  if (!('raw' in part) || part.raw.length <= maxFileCharacters) return part;
  const { raw, ...labels } = part;
  return { ...labels, mediaType: 'text/plain', text: `(${Math.floor(raw.length * 0.75)} bytes, not kept)` };
}
