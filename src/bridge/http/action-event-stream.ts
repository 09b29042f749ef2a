import type { ServerResponse } from 'node:http';
import { formatSseEvent, sseHeaders } from '../../primitives/formats/sse.ts';
import type { StreamOutput } from '../../server/node/exchange-limits.ts';

/**
 * Streams the progress and result of a call as server-sent events. Under backpressure progress events are dropped,
 * because only the result is required.
 */
export class ActionEventStream {
  readonly #output: StreamOutput;
  #isFull = false;

  constructor(response: ServerResponse, output: StreamOutput) {
    this.#output = output;
    response.writeHead(200, sseHeaders);
    response.flushHeaders();
    response.on('drain', () => {
      this.#isFull = false;
    });
  }

  sendProgress(event: string, value: unknown): void {
    if (!this.#isFull) this.#write(formatSseEvent({ event, data: JSON.stringify(value) }));
  }

  /** Sends a comment, which keeps the connection alive. */
  sendHeartbeat(): void {
    if (!this.#isFull) this.#write(':\n\n');
  }

  end(event: string, value: unknown): void {
    this.#output.end(formatSseEvent({ event, data: JSON.stringify(value) }));
  }

  #write(frame: string): void {
    this.#isFull = !this.#output.write(frame);
  }
}
