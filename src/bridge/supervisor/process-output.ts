/** One line of output of a process. */
export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  /** Without the line break. */
  readonly text: string;
}

/** Maximum length of a line, in characters; longer lines are split. */
const maxLineLength = 8192;

/** Splits the output of a process into lines and retains the last ones. */
export class OutputBuffer {
  readonly #limit: number;
  readonly #onLine: (line: OutputLine) => void;
  readonly #partialLines = { stdout: '', stderr: '' };
  #lines: OutputLine[] = [];
  #size = 0;

  /** @param limit - number of retained characters. @param onLine - called with each complete line. */
  constructor(limit: number, onLine: (line: OutputLine) => void) {
    this.#limit = limit;
    this.#onLine = onLine;
  }

  /** Adds a chunk of output. */
  push(stream: OutputLine['stream'], text: string): void {
    const completeLines = (this.#partialLines[stream] + text).split('\n');
    let partialLine = completeLines.pop() ?? '';
    for (const line of completeLines) this.#addLine(stream, line.endsWith('\r') ? line.slice(0, -1) : line);
    for (; partialLine.length > maxLineLength; partialLine = partialLine.slice(maxLineLength))
      this.#add({ stream, text: partialLine.slice(0, maxLineLength) });
    this.#partialLines[stream] = partialLine;
  }

  /** Completes partial lines at the end of the output. */
  flush(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const partialLine = this.#partialLines[stream];
      this.#partialLines[stream] = '';
      if (partialLine !== '') this.#addLine(stream, partialLine);
    }
  }

  /** Returns the retained lines, oldest first. */
  last(): readonly OutputLine[] {
    return [...this.#lines];
  }

  clear(): void {
    this.#lines = [];
    this.#size = 0;
  }

  #addLine(stream: OutputLine['stream'], text: string): void {
    for (let at = 0; at === 0 || at < text.length; at += maxLineLength)
      this.#add({ stream, text: text.slice(at, at + maxLineLength) });
  }

  #add(line: OutputLine): void {
    this.#lines.push(line);
    // Counts the line break, so that empty lines are limited too.
    this.#size += line.text.length + 1;
    while (this.#size > this.#limit && this.#lines.length > 1) {
      this.#size -= (this.#lines.shift()?.text.length ?? 0) + 1;
    }
    this.#onLine(line);
  }
}

/** Formats the last non-empty lines for an error message. */
export function outputTail(lines: readonly OutputLine[], count = 20): string {
  const texts = lines.map(({ text }) => text).filter((text) => text.trim() !== '');
  return texts
    .slice(-count)
    .map((text) => text.slice(0, 500))
    .join('\n');
}
