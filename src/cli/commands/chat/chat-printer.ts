import type { StreamEvent } from '../../../protocol/event.ts';
import type { Message } from '../../../protocol/message.ts';
import type { Part } from '../../../protocol/part.ts';
import { isInterrupted, isTask, isTerminal, type Task } from '../../../protocol/task.ts';
import { formatFileLine, wireState } from '../../client/output.ts';
import { createColors } from '../../terminal/colors.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';

/** One turn of the agent, as a person at a terminal reads it: what it says, as it says it. */
export class ChatPrinter {
  readonly #write: (text: string) => void;
  readonly #colours = createColors(process.stdout);
  #atLineStart = true;
  #hasSpoken = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Shows one event. A task as it stands says nothing new as a rule. */
  event(event: StreamEvent): void {
    if (event.kind === 'message') this.#say(event.message.parts);
    if (event.kind === 'artifact') this.#say(event.artifact.parts, !event.append);
    if (event.kind === 'status' && event.status.message) this.#say(event.status.message.parts);
  }

  /** Ends the turn: shows what no event told, and how the task is if it is not simply done. */
  end(answer: Task | Message): void {
    if (isTask(answer)) {
      const { state, message } = answer.status;
      if (!this.#hasSpoken) {
        for (const { parts } of answer.artifacts ?? []) this.#say(parts);
        if (message) this.#say(message.parts);
      }
      if (isInterrupted(state) || (isTerminal(state) && state !== 'completed'))
        this.#line(this.#colours.yellow(`[${wireState(answer.status)}]`));
    } else if (!this.#hasSpoken) this.#say(answer.parts);
    this.#newLine();
  }

  #say(parts: readonly Part[], isNew = true): void {
    this.#hasSpoken = true;
    if (isNew) this.#newLine();
    for (const part of parts) {
      if ('text' in part) {
        const text = sanitizeForTerminal(part.text, 'lines');
        if (this.#atLineStart && isNew) this.#write(this.#colours.cyan('agent> '));
        this.#write(text);
        this.#atLineStart = text.endsWith('\n');
      } else if ('data' in part)
        this.#line(sanitizeForTerminal(JSON.stringify(part.data, undefined, 2) ?? 'null', 'lines'));
      else this.#line(this.#colours.dim(`[file ${sanitizeForTerminal(formatFileLine(part), 'line')}]`));
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
