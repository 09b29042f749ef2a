import { formatSseEvent, sseHeaders, sseHeartbeat } from '../../primitives/formats/sse.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { EventWriter } from '../dialect.ts';
import { dialectForVersion } from '../negotiation.ts';

/** Options of {@link SseWriter}. */
export interface SseWriterOptions {
  /** Protocol version of the events. @defaultValue 1.0 */
  readonly version?: ProtocolVersion;
  /** Id of the JSON-RPC request; each event becomes a JSON-RPC response to it. @defaultValue none: plain events */
  readonly requestId?: string | number | null;
}

/**
 * Writes stream events as server-sent events, each as `data: {json}` and an empty line.
 *
 * @example
 * ```ts
 * createServer((_request, response) => {
 *   response.writeHead(200, SseWriter.headers);
 *   const writer = new SseWriter((text) => response.write(text));
 *   writer.write({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } });
 *   response.end();
 * });
 * ```
 */
export class SseWriter {
  /** Response headers of an event stream. */
  static readonly headers: Readonly<Record<string, string>> = { ...sseHeaders, Connection: 'keep-alive' };
  readonly #send: (text: string) => unknown;
  readonly #requestId: string | number | null | undefined;
  readonly #writer: EventWriter;

  /** @param send - called with the text of each event, such as `response.write`. */
  constructor(send: (text: string) => unknown, { version = '1.0', requestId }: SseWriterOptions = {}) {
    this.#send = send;
    this.#requestId = requestId;
    this.#writer = dialectForVersion(version).eventWriter();
  }

  /** Writes an event. @param id - SSE id, with which a client can resume after this event. */
  write(event: StreamEvent, id?: string): void {
    for (const wire of this.#writer.write(event)) {
      const body =
        this.#requestId === undefined ? wire : { jsonrpc: '2.0', id: this.#requestId, result: wire };
      this.#send(formatSseEvent({ data: JSON.stringify(body), id }));
    }
  }

  /** Writes a comment that keeps an idle connection alive. */
  heartbeat(): void {
    this.#send(sseHeartbeat);
  }
}
