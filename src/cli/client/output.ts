import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import { bytesOf, joinTexts, type Metadata, type Part } from '../../protocol/part.ts';
import { type Artifact, isTask, type Task, type TaskStatus } from '../../protocol/task.ts';
import type { ClientFlags } from './flags.ts';
import { sanitizeForTerminal, terminalSafeJson } from '../terminal/sanitize.ts';

/** Writes the output of a client command: fields and blocks as text, or JSON. */
export class ClientOutput {
  readonly isJson: boolean;
  readonly #isStream: boolean;
  readonly #isVerbose: boolean;
  readonly #write: (text: string) => void;
  /** Artifact whose text block is still open for further chunks. */
  #openBlock: { artifactId: string; atLineStart: boolean } | undefined;

  constructor(
    { output, stream, verbose }: Pick<ClientFlags, 'output' | 'stream' | 'verbose'>,
    write = (text: string): void => {
      process.stdout.write(text);
    },
  ) {
    this.isJson = output === 'json';
    this.#isStream = stream;
    this.#isVerbose = verbose;
    this.#write = write;
  }

  /** Writes a JSON document; with `--stream` on one line. */
  json(value: unknown): void {
    this.#write(`${terminalSafeJson(value, this.#isStream ? undefined : 2)}\n`);
  }

  /** Writes `Label: value`. */
  field(label: string, value: string | number | undefined): void {
    if (value === undefined) return;
    this.#closeBlock();
    this.#write(`${label}: ${sanitizeForTerminal(String(value), 'line')}\n`);
  }

  /** Writes a block of lines, indented so that no line looks like a field, and closed by an empty line. */
  block(label: string, text: string): void {
    this.#closeBlock();
    const lines = sanitizeForTerminal(text, 'lines').replace(/\n$/, '').split('\n');
    this.#write(`${label}:\n${lines.map((line) => `  ${line}`).join('\n')}\n\n`);
  }

  /** Writes an empty line. */
  gap(): void {
    this.#closeBlock();
    this.#write('\n');
  }

  result(result: Task | Message): void {
    if (this.isJson) this.json(v1_0.results.send.write(result));
    else if (isTask(result)) this.#task(result);
    else this.#message(result);
  }

  task(task: Task): void {
    if (this.isJson) this.json(v1_0.task.write(task));
    else this.#task(task);
  }

  /** Writes the IDs and the state of a task. */
  identity({ id, contextId, status }: Pick<Task, 'id' | 'contextId' | 'status'>): void {
    this.field('Task ID', id);
    this.field('Context ID', contextId);
    this.field('State', wireState(status));
  }

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
        if (event.append && this.#appendToBlock(event.artifact)) break;
        this.field('Event', 'artifact');
        this.#artifact(event.artifact, true);
        break;
    }
  }

  /** Closes an open block. */
  end(): void {
    this.#closeBlock();
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

  /** Writes the history of a task, unless `--verbose` has written it with the task. */
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

  #artifact({ artifactId, name, description, parts, metadata }: Artifact, isChunk = false): void {
    this.field('Artifact', name === undefined ? artifactId : `${name} (${artifactId})`);
    if (this.#isVerbose) {
      this.field('Description', description);
      this.#metadata(metadata);
    }
    const [only] = parts;
    if (isChunk && parts.length === 1 && only && 'text' in only && !this.#isVerbose) {
      this.#closeBlock();
      this.#write('Text:\n');
      this.#openBlock = { artifactId, atLineStart: true };
      this.#appendText(only.text);
      return;
    }
    for (const part of joinTexts(parts)) this.#part(part);
  }

  /** Appends the text of a chunk to the open block. Returns false if the chunk does not continue it. */
  #appendToBlock({ artifactId, parts }: Artifact): boolean {
    if (this.#openBlock?.artifactId !== artifactId || !parts.every((part) => 'text' in part)) return false;
    for (const part of parts) if ('text' in part) this.#appendText(part.text);
    return true;
  }

  #appendText(text: string): void {
    if (!this.#openBlock) return;
    for (const piece of sanitizeForTerminal(text, 'lines').split(/(?<=\n)/)) {
      if (piece === '') continue;
      this.#write(this.#openBlock.atLineStart ? `  ${piece}` : piece);
      this.#openBlock.atLineStart = piece.endsWith('\n');
    }
  }

  #closeBlock(): void {
    if (!this.#openBlock) return;
    const { atLineStart } = this.#openBlock;
    this.#openBlock = undefined;
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

/** Formats a file part: name, media type and size, or its URL. */
export function formatFileLine(part: Exclude<Part, { text: string } | { data: unknown }>): string {
  const name = part.filename ?? '(no name)';
  const type = part.mediaType ?? 'unknown type';
  if ('url' in part) return `${name} (${type}, size unknown) at ${part.url}`;
  return `${name} (${type}, ${bytesOf(part).length} bytes)`;
}

/** Returns a task state in the 1.0 format, such as `TASK_STATE_COMPLETED`. */
export function wireState({ state }: Pick<TaskStatus, 'state'>): string {
  return state === 'unknown'
    ? 'TASK_STATE_UNSPECIFIED'
    : `TASK_STATE_${state.replaceAll('-', '_').toUpperCase()}`;
}
