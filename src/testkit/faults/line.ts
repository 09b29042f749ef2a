import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** How many characters wait for their time before whoever writes them has to wait as well. */
const maxHeld = 64 * 1_024;

/** The way out of a response, below the methods that others call. */
export class Line {
  readonly #response: ServerResponse;
  readonly #real: Pick<ServerResponse, 'writeHead' | 'write' | 'end'>;
  /** What waits until the line is opened. */
  #waiting: (() => void)[] | undefined;
  #held = 0;
  #unsent = 0;
  #onSent: (() => void) | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#real = {
      writeHead: response.writeHead.bind(response),
      write: response.write.bind(response),
      end: response.end.bind(response),
    };
  }

  /** Gives the response its own methods back. */
  disarm(): void {
    Object.assign(this.#response, this.#real);
  }

  /** Keeps everything back. @returns what lets it go. */
  hold(): () => void {
    this.#waiting = [];
    return () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const run of waiting) run();
      if (this.#held > maxHeld && !this.#response.destroyed) this.#response.emit('drain');
      this.#held = 0;
    };
  }

  head(status: number, headers: readonly string[]): void {
    this.#inTurn(() => this.#real.writeHead(status, headers as OutgoingHttpHeaders & string[]));
  }

  /** @returns false when the writer should wait for `drain`. */
  write(chunk: string | Buffer): boolean {
    let goesOn = true;
    if (this.#waiting) {
      this.#held += chunk.length;
      goesOn = this.#held <= maxHeld;
    }
    this.#inTurn(() => {
      this.#unsent++;
      goesOn = this.#real.write(chunk, () => {
        this.#unsent--;
        if (this.#unsent === 0) this.#onSent?.();
      });
    });
    return goesOn;
  }

  end(body?: string | Buffer): void {
    this.#inTurn(() => this.#real.end(body));
  }

  /** Sends the head although there is nothing to go with it yet. */
  flushHead(): void {
    this.#inTurn(() => this.#response.flushHeaders());
  }

  /** Breaks the connection off once everything is sent. */
  cut(): void {
    this.#afterAll(() => this.#response.destroy());
  }

  /** Resets the connection once everything is sent: the peer hears of an error instead of an end. */
  reset(): void {
    this.#afterAll(() => {
      const { socket } = this.#response;
      try {
        socket?.resetAndDestroy();
      } catch {
        // What is encrypted cannot be reset from here.
        socket?.destroy();
      }
    });
  }

  #afterAll(run: () => void): void {
    this.#inTurn(() => {
      if (this.#unsent === 0) run();
      else this.#onSent = run;
    });
  }

  #inTurn(run: () => void): void {
    if (this.#waiting) this.#waiting.push(run);
    else if (!this.#response.destroyed) run();
  }
}
