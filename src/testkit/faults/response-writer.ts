import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { waitForIdle } from '../clock/wait-for-idle.ts';

/** Maximum length of held content before backpressure is applied. */
const maxHeldLength = 64 * 1_024;

/**
 * Event-loop turns in which the peer can read the sent data before the connection is reset. It is smaller than the
 * number of idle turns after which a virtual clock advances.
 */
const resetDelayTurns = 4;

/** Writes to a response through its original methods, below the ones that fault injection replaces. */
export class ResponseWriter {
  readonly #response: ServerResponse;
  readonly #original: Pick<ServerResponse, 'writeHead' | 'write' | 'end'>;
  /** Writes that are held back; undefined if nothing is held. */
  #waiting: (() => void)[] | undefined;
  #heldLength = 0;
  #pendingWrites = 0;
  #onSent: (() => void) | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    this.#original = {
      writeHead: response.writeHead.bind(response),
      write: response.write.bind(response),
      end: response.end.bind(response),
    };
  }

  /** Restores the original methods of the response. */
  detach(): void {
    Object.assign(this.#response, this.#original);
  }

  /** Holds all writes back. @returns a function that releases them */
  hold(): () => void {
    this.#waiting = [];
    return () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const run of waiting) run();
      if (this.#heldLength > maxHeldLength && !this.#response.destroyed) this.#response.emit('drain');
      this.#heldLength = 0;
    };
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.#runInOrder(() => this.#original.writeHead(status, headers as OutgoingHttpHeaders & string[]));
  }

  /** @returns false if the caller should wait for `drain` */
  write(chunk: string | Buffer): boolean {
    let canContinue = true;
    if (this.#waiting) {
      this.#heldLength += chunk.length;
      canContinue = this.#heldLength <= maxHeldLength;
    }
    this.#runInOrder(() => {
      this.#pendingWrites++;
      canContinue = this.#original.write(chunk, () => {
        this.#pendingWrites--;
        if (this.#pendingWrites === 0) this.#onSent?.();
      });
    });
    return canContinue;
  }

  end(body?: string | Buffer): void {
    this.#runInOrder(() => this.#original.end(body));
  }

  /** Sends the head without waiting for the body. */
  flushHead(): void {
    this.#runInOrder(() => this.#response.flushHeaders());
  }

  /** Destroys the connection after all data is sent. */
  disconnect(): void {
    this.#afterSent(() => this.#response.destroy());
  }

  /**
   * Resets the connection (TCP RST) after all data is sent, so that the peer receives an error. TLS connections are
   * destroyed instead.
   */
  reset(then?: () => void): void {
    this.#afterSent(() => {
      if (!this.#response.headersSent) {
        this.#resetSocket();
        then?.();
        return;
      }
      // A reset that arrives before the peer has read the data looks like a regular end.
      void waitForIdle(resetDelayTurns).then(() => {
        this.#resetSocket();
        then?.();
      });
    });
  }

  #resetSocket(): void {
    const { socket } = this.#response;
    if (socket instanceof TLSSocket) socket.destroy();
    // resetAndDestroy() sends a FIN first, which the peer may treat as a regular end; the internal flag avoids it.
    else if (socket && 'resetAndClosing' in socket)
      Object.assign(socket, { resetAndClosing: true }).destroy();
    else socket?.resetAndDestroy();
  }

  #afterSent(run: () => void): void {
    this.#runInOrder(() => {
      if (this.#pendingWrites === 0) run();
      else this.#onSent = run;
    });
  }

  #runInOrder(run: () => void): void {
    if (this.#waiting) this.#waiting.push(run);
    else if (!this.#response.destroyed) run();
  }
}
