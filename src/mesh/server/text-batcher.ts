import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import { isInterrupted, isTerminal } from '../../protocol/task.ts';
import type { Clock } from '../../primitives/clock.ts';
import { isTextOnly } from '../progress-updates.ts';

/** How updates of text are joined, so that not every word travels alone. */
export interface BatchOptions {
  /** For how long at most the first word waits for the next. */
  readonly milliseconds: number;
  /** How many characters are enough. */
  readonly characters: number;
}

type Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

/** Joins consecutive updates that are only text. */
export class TextBatcher {
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #send: (update: Update) => void;
  #held: Update | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: BatchOptions, clock: Clock, send: (update: Update) => void) {
    this.#options = options;
    this.#clock = clock;
    this.#send = send;
  }

  /** Takes the next update. */
  push(update: Update): void {
    if (!mayWait(update)) {
      this.flush();
      this.#send(update);
      return;
    }
    const joined = this.#held && join(this.#held, update);
    if (!joined) this.flush();
    this.#held = joined ?? update;
    if (textLength(this.#held) >= this.#options.characters) this.flush();
    else this.#stopTimer ??= this.#clock.after(this.#options.milliseconds, () => this.flush());
  }

  /** Sends what waits. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#send(held);
  }
}

function mayWait(update: Update): boolean {
  if (update.kind === 'artifact') return isTextOnly(update.artifact.parts) && update.lastChunk !== true;
  const { state, message } = update.status;
  return message !== undefined && isTextOnly(message.parts) && !isTerminal(state) && !isInterrupted(state);
}

function textLength(update: Update): number {
  const parts = update.kind === 'artifact' ? update.artifact.parts : (update.status.message?.parts ?? []);
  return textOf(parts).length;
}

/** Two updates as one; undefined when they speak of different things. */
function join(first: Update, second: Update): Update | undefined {
  if (first.kind === 'artifact' && second.kind === 'artifact') {
    if (!second.append || first.artifact.artifactId !== second.artifact.artifactId) return undefined;
    const text = textOf(first.artifact.parts) + textOf(second.artifact.parts);
    const metadata = mergedMetadata(first, second);
    return { ...first, artifact: { ...first.artifact, parts: [{ text }] }, ...metadata };
  }
  if (first.kind !== 'status' || second.kind !== 'status') return undefined;
  const [before, after] = [first.status.message, second.status.message];
  if (first.status.state !== second.status.state || !before || !after) return undefined;
  const text = textOf(before.parts) + textOf(after.parts);
  return {
    ...second,
    status: { ...second.status, message: { ...after, parts: [{ text }] } },
    ...mergedMetadata(first, second),
  };
}

function mergedMetadata(first: Update, second: Update): Pick<Update, 'metadata'> {
  if (!first.metadata && !second.metadata) return {};
  return { metadata: { ...first.metadata, ...second.metadata } };
}
