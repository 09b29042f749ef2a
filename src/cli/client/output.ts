import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { bytesOf, type Metadata, type Part } from '../../protocol/part.ts';
import {
  type Artifact,
  isInterrupted,
  isTask,
  isTerminal,
  type Task,
  type TaskStatus,
} from '../../protocol/task.ts';
import type { ClientFlags } from './flags.ts';
import { sanitizeForTerminal, terminalSafeJson } from '../terminal/sanitize.ts';

/** Writes what a command has to say: fields and blocks for people, JSON for programs. */
export class ClientOutput {
  readonly isJson: boolean;
  readonly #isStreamed: boolean;
  readonly #isVerbose: boolean;
  readonly #write: (text: string) => void;
  /** The artifact whose text is being written, as long as nothing else comes between. */
  #open: { artifactId: string; atLineStart: boolean } | undefined;

  constructor(
    { output, stream, verbose }: Pick<ClientFlags, 'output' | 'stream' | 'verbose'>,
    write = (text: string): void => {
      process.stdout.write(text);
    },
  ) {
    this.isJson = output === 'json';
    this.#isStreamed = stream;
    this.#isVerbose = verbose;
    this.#write = write;
  }

  /** Writes a whole JSON document, on one line where lines are what is wanted. */
  json(value: unknown): void {
    this.#write(`${terminalSafeJson(value, this.#isStreamed ? undefined : 2)}\n`);
  }

  /** Writes `Label: value`. */
  field(label: string, value: string | number | undefined): void {
    if (value === undefined) return;
    this.#close();
    this.#write(`${label}: ${sanitizeForTerminal(String(value), 'line')}\n`);
  }

  /** Writes what needs more than a line: indented, so that nothing in it looks like a field, and closed by an empty line. */
  block(label: string, text: string): void {
    this.#close();
    const lines = sanitizeForTerminal(text, 'lines').replace(/\n$/, '').split('\n');
    this.#write(`${label}:\n${lines.map((line) => `  ${line}`).join('\n')}\n\n`);
  }

  /** Writes an empty line between two things. */
  gap(): void {
    this.#close();
    this.#write('\n');
  }

  /** Writes the answer to a send. */
  answer(answer: Task | Message): void {
    if (this.isJson) this.json(v1_0.results.send.write(answer));
    else if (isTask(answer)) this.#task(answer);
    else this.#message(answer);
  }

  /** Writes a task. */
  task(task: Task): void {
    if (this.isJson) this.json(v1_0.task.write(task));
    else this.#task(task);
  }

  /** Writes what identifies a task, and how it is. */
  identity({ id, contextId, status }: Pick<Task, 'id' | 'contextId' | 'status'>): void {
    this.field('Task ID', id);
    this.field('Context ID', contextId);
    this.field('State', wireState(status));
  }

  /** Writes one event of a stream. */
  event(event: StreamEvent): void {
    if (this.isJson) {
      for (const wire of v1_0.eventWriter().write(event)) this.json(wire);
      return;
    }
    switch (event.kind) {
      case 'task':
        this.field('Event', 'task');
        this.#task(event.task);
        break;
      case 'message':
        this.field('Event', 'message');
        this.#message(event.message);
        break;
      case 'status':
        this.field('Event', 'status');
        this.identity({ id: event.taskId, contextId: event.contextId, status: event.status });
        this.#statusMessage(event.status);
        if (this.#isVerbose) this.#metadata(event.metadata);
        break;
      case 'artifact':
        if (event.append && this.#continues(event.artifact)) break;
        this.field('Event', 'artifact');
        this.#artifact(event.artifact, true);
        break;
    }
  }

  /** Ends what is still being written. */
  end(): void {
    this.#close();
  }

  #task(task: Task): void {
    this.identity(task);
    if (this.#isVerbose) this.field('Updated', task.status.timestamp);
    this.#statusMessage(task.status);
    for (const each of task.artifacts ?? []) this.#artifact(each);
    if (!this.#isVerbose) return;
    this.#metadata(task.metadata);
    for (const each of task.history ?? []) {
      this.field('History', `${each.role} ${each.messageId}`);
      for (const part of each.parts) this.#part(part);
    }
  }

  /** Writes the messages of a task. */
  history(messages: readonly Message[]): void {
    if (this.#isVerbose) return;
    for (const each of messages) {
      this.field('History', each.role);
      for (const part of each.parts) this.#part(part);
    }
  }

  #message(message: Message): void {
    this.field('Message ID', message.messageId);
    this.field('Task ID', message.taskId);
    this.field('Context ID', message.contextId);
    for (const part of message.parts) this.#part(part);
    if (this.#isVerbose) this.#metadata(message.metadata);
  }

  #statusMessage({ message }: TaskStatus): void {
    if (!message) return;
    for (const part of message.parts) this.#part(part, 'Message');
  }

  #artifact({ artifactId, name, description, parts, metadata }: Artifact, mayGrow = false): void {
    this.field('Artifact', name === undefined ? artifactId : `${name} (${artifactId})`);
    if (this.#isVerbose) {
      this.field('Description', description);
      this.#metadata(metadata);
    }
    const [only] = parts;
    if (mayGrow && parts.length === 1 && only && 'text' in only && !this.#isVerbose) {
      this.#close();
      this.#write('Text:\n');
      this.#open = { artifactId, atLineStart: true };
      this.#grow(only.text);
      return;
    }
    for (const part of parts) this.#part(part);
  }

  /** True when the text of a chunk could be put after the text before it. */
  #continues({ artifactId, parts }: Artifact): boolean {
    if (this.#open?.artifactId !== artifactId || !parts.every((part) => 'text' in part)) return false;
    for (const part of parts) if ('text' in part) this.#grow(part.text);
    return true;
  }

  #grow(text: string): void {
    if (!this.#open) return;
    for (const piece of sanitizeForTerminal(text, 'lines').split(/(?<=\n)/)) {
      if (piece === '') continue;
      this.#write(this.#open.atLineStart ? `  ${piece}` : piece);
      this.#open.atLineStart = piece.endsWith('\n');
    }
  }

  #close(): void {
    if (!this.#open) return;
    const { atLineStart } = this.#open;
    this.#open = undefined;
    this.#write(atLineStart ? '\n' : '\n\n');
  }

  #part(part: Part, label = 'Text'): void {
    if ('text' in part) this.block(label, part.text);
    else if ('data' in part) this.block('Data', JSON.stringify(part.data, undefined, 2) ?? 'null');
    else this.field('File', formatFileLine(part));
    if (!this.#isVerbose) return;
    if ('text' in part || 'data' in part) {
      this.field('Media type', part.mediaType);
      this.field('Name', part.filename);
    }
    this.#metadata(part.metadata);
  }

  #metadata(metadata: Metadata | undefined): void {
    if (metadata) this.block('Metadata', JSON.stringify(metadata, undefined, 2));
  }
}

/** A file in one line: its name, its type and its size, or where it is. */
export function formatFileLine(part: Exclude<Part, { text: string } | { data: unknown }>): string {
  const name = part.filename ?? '(no name)';
  const type = part.mediaType ?? 'unknown type';
  if ('url' in part) return `${name} (${type}, size unknown) at ${part.url}`;
  return `${name} (${type}, ${bytesOf(part).length} bytes)`;
}

/** A state as 1.0 writes it. */
export function wireState({ state }: Pick<TaskStatus, 'state'>): string {
  return state === 'unknown'
    ? 'TASK_STATE_UNSPECIFIED'
    : `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}`;
}

/** True when there is nothing to wait for: the task is over, or its caller has to act. */
export function isTerminalOrInterrupted({ state }: TaskStatus): boolean {
  return isTerminal(state) || isInterrupted(state);
}
