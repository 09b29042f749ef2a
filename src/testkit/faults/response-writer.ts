import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { waitForIdle } from '../clock/wait-for-idle.ts';

/** How many characters wait for their time before whoever writes them has to wait as well. */
const maxHeld = 64 * 1_024;

/**
 * For how many turns of the event loop a peer may read what it was sent before the connection is reset: few enough for
 * a virtual clock, which waits for more of them, to stand still meanwhile.
 */
const patience = 4;

/** The way out of a response, below the methods that others call. */
export class ResponseWriter {
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

  /**
   * Resets the connection once everything is sent: the peer hears of an error instead of an end. What is encrypted is
   * cut instead.
   */
  reset(then?: () => void): void {
    this.#afterAll(() => {
      if (!this.#response.headersSent) {
        this.#tear();
        then?.();
        return;
      }
      // A reset that overtakes what the peer has not read yet looks like an end to it.
      void waitForIdle(patience).then(() => {
        this.#tear();
        then?.();
      });
    });
  }

  #tear(): void {
    const { socket } = this.#response;
    if (socket instanceof TLSSocket) socket.destroy();
    // The reset of Node says a proper end first, which a peer may take for one; its mark on the socket does not.
    else if (socket && 'resetAndClosing' in socket)
      Object.assign(socket, { resetAndClosing: true }).destroy();
    else socket?.resetAndDestroy();
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
