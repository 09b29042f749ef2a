/** One line that a process printed. */
export interface OutputLine {
  readonly stream: 'stdout' | 'stderr';
  /** Without its end. */
  readonly text: string;
}

/** How many characters one line may have; what is longer becomes several. */
const maxLine = 8192;

/** Makes lines of what a process prints and keeps the last of them. */
export class OutputBuffer {
  readonly #limit: number;
  readonly #told: (line: OutputLine) => void;
  readonly #halves = { stdout: '', stderr: '' };
  #lines: OutputLine[] = [];
  #size = 0;

  /**
   * @param limit - how many characters are kept.
   * @param told - takes each line, once it is whole.
   */
  constructor(limit: number, told: (line: OutputLine) => void) {
    this.#limit = limit;
    this.#told = told;
  }

  /** Takes what was printed, in whatever pieces it comes. */
  push(stream: OutputLine['stream'], text: string): void {
    const pieces = (this.#halves[stream] + text).split('\n');
    let half = pieces.pop() ?? '';
    for (const piece of pieces) this.#whole(stream, piece.endsWith('\r') ? piece.slice(0, -1) : piece);
    for (; half.length > maxLine; half = half.slice(maxLine))
      this.#add({ stream, text: half.slice(0, maxLine) });
    this.#halves[stream] = half;
  }

  /** Nothing more comes: half a line is a line. */
  flush(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const half = this.#halves[stream];
      this.#halves[stream] = '';
      if (half !== '') this.#whole(stream, half);
    }
  }

  /** The last lines, the oldest first. */
  last(): readonly OutputLine[] {
    return [...this.#lines];
  }

  /** Forgets everything, as for another process. */
  clear(): void {
    this.#lines = [];
    this.#size = 0;
  }

  #whole(stream: OutputLine['stream'], text: string): void {
    for (let at = 0; at === 0 || at < text.length; at += maxLine)
      this.#add({ stream, text: text.slice(at, at + maxLine) });
  }

  #add(line: OutputLine): void {
    this.#lines.push(line);
    // An empty line takes room too.
    this.#size += line.text.length + 1;
    while (this.#size > this.#limit && this.#lines.length > 1) {
      this.#size -= (this.#lines.shift()?.text.length ?? 0) + 1;
    }
    this.#told(line);
  }
}

/** The end of what was printed, as a person wants to see it. */
export function outputTail(lines: readonly OutputLine[], count = 20): string {
  const said = lines.map(({ text }) => text).filter((text) => text.trim() !== '');
  return said
    .slice(-count)
    .map((text) => text.slice(0, 500))
    .join('\n');
}
