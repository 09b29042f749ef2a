import type { StreamEvent } from '../../../protocol/event.ts';
import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../../protocol/task.ts';
import { formatFileLine, wireState } from '../../client/output.ts';
import { createColors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** Prints one turn of the agent at a terminal, while it streams. */
export class ChatPrinter {
  readonly #write: (text: string) => void;
  readonly #colors = createColors(process.stdout);
  #atLineStart = true;
  #hasPrinted = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Prints the parts of an event. Ignores task snapshots, which repeat earlier events. */
  event(event: StreamEvent): void {
    if (event.kind === 'message') this.#print(event.message.parts);
    if (event.kind === 'artifact') this.#print(event.artifact.parts, !event.append);
    if (event.kind === 'status' && event.status.message) this.#print(event.status.message.parts);
  }

  /** Ends the turn: prints the result if no event contained it, and any state other than completed. */
  end(result: Task | Message): void {
    if (isTask(result)) {
      const { state, message } = result.status;
      if (!this.#hasPrinted) {
        for (const { parts } of result.artifacts ?? []) this.#print(parts);
        if (message) this.#print(message.parts);
      }
      if (isInterrupted(state) || (isTerminal(state) && state !== 'completed'))
        this.#line(this.#colors.yellow(`[${wireState(result.status)}]`));
    } else if (!this.#hasPrinted) this.#print(result.parts);
    this.#newLine();
  }

  #print(parts: readonly Part[], isNew = true): void {
    this.#hasPrinted = true;
    if (isNew) this.#newLine();
    for (const part of parts) {
      if ('text' in part) {
        const text = sanitizeForTerminal(part.text, 'lines');
        if (this.#atLineStart && isNew) this.#write(this.#colors.cyan('agent> '));
        this.#write(text);
        this.#atLineStart = text.endsWith('\n');
      } else if ('data' in part)
        this.#line(sanitizeForTerminal(JSON.stringify(part.data, undefined, 2) ?? 'null', 'lines'));
      else this.#line(this.#colors.dim(`[file ${sanitizeForTerminal(formatFileLine(part), 'line')}]`));
    }
  }

  #line(text: string): void {
    this.#newLine();
    this.#write(`${text}\n`);
  }

  #newLine(): void {
    if (!this.#atLineStart) this.#write('\n');
    this.#atLineStart = true;
  }
}
