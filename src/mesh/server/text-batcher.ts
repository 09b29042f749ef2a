import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import { isTerminalOrInterrupted } from '../../protocol/task.ts';
import type { Clock } from '../../primitives/clock.ts';
import { isTextOnly } from '../progress-updates.ts';

/** Batching of text updates, which reduces the number of messages. */
export interface BatchOptions {
  /** Maximum delay of an update, in milliseconds. */
  readonly maxDelay: number;
  /** Number of characters at which a batch is sent. */
  readonly maxCharacters: number;
}

type Update = TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

/** Joins consecutive text updates. */
export class TextBatcher {
  readonly #options: BatchOptions;
  readonly #clock: Clock;
  readonly #send: (update: Update) => void;
  #batch: Update | undefined;
  #stopTimer: (() => void) | undefined;

  constructor(options: BatchOptions, clock: Clock, send: (update: Update) => void) {
    this.#options = options;
    this.#clock = clock;
    this.#send = send;
  }

  push(update: Update): void {
    if (!isBatchable(update)) {
      this.flush();
      this.#send(update);
      return;
    }
    const joined = this.#batch && joinUpdates(this.#batch, update);
    if (!joined) this.flush();
    this.#batch = joined ?? update;
    if (textLength(this.#batch) >= this.#options.maxCharacters) this.flush();
    else this.#stopTimer ??= this.#clock.after(this.#options.maxDelay, () => this.flush());
  }

  /** Sends the batch. */
  flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    const batch = this.#batch;
    this.#batch = undefined;
    if (batch) this.#send(batch);
  }
}

function isBatchable(update: Update): boolean {
  if (update.kind === 'artifact') return isTextOnly(update.artifact.parts) && update.lastChunk !== true;
  const { state, message } = update.status;
  return message !== undefined && isTextOnly(message.parts) && !isTerminalOrInterrupted(state);
}

function textLength(update: Update): number {
  const parts = update.kind === 'artifact' ? update.artifact.parts : (update.status.message?.parts ?? []);
  return textOf(parts).length;
}

/** Joins two updates; returns undefined if they belong to different states or artifacts. */
function joinUpdates(first: Update, second: Update): Update | undefined {
  if (first.kind === 'artifact' && second.kind === 'artifact') {
    if (!second.append || first.artifact.artifactId !== second.artifact.artifactId) return undefined;
    const text = textOf(first.artifact.parts) + textOf(second.artifact.parts);
    const metadata = mergeMetadata(first, second);
    return { ...first, artifact: { ...first.artifact, parts: [{ text }] }, ...metadata };
  }
  if (first.kind !== 'status' || second.kind !== 'status') return undefined;
  const [firstMessage, secondMessage] = [first.status.message, second.status.message];
  if (first.status.state !== second.status.state || !firstMessage || !secondMessage) return undefined;
  const text = textOf(firstMessage.parts) + textOf(secondMessage.parts);
  return {
    ...second,
    status: { ...second.status, message: { ...secondMessage, parts: [{ text }] } },
    ...mergeMetadata(first, second),
  };
}

function mergeMetadata(first: Update, second: Update): Pick<Update, 'metadata'> {
  if (!first.metadata && !second.metadata) return {};
  return { metadata: { ...first.metadata, ...second.metadata } };
}
