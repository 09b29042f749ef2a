import type { Dialect } from '../../dialects/dialect.ts';
import { sseHeartbeat } from '../../primitives/formats/sse.ts';
import type { A2AError } from '../../protocol/errors.ts';

/** Envelope around each event of a stream. It is small, because a stream may stay open for hours. */
export interface StreamEnvelope {
  /** Text of a frame before the serialized event. */
  readonly start: string;
  /** Text of a frame after the serialized event. */
  readonly end: string;
  /** True if frames have the sequence number of their event as `id:`. */
  readonly hasIds: boolean;
  /** Frame that keeps the connection open; empty if the transport does so itself. */
  readonly heartbeat: string;
  /** Returns the frame of an error within a stream; empty if the transport reports errors at its end. */
  error(error: A2AError): string;
}

/** JSON-RPC: each event is a response to the request that opened the stream. */
export class RpcEnvelope implements StreamEnvelope {
  readonly start: string;
  readonly end = '}\n\n';
  readonly hasIds = true;
  readonly heartbeat = sseHeartbeat;
  readonly #id: string;
  readonly #dialect: Dialect;

  constructor(id: string | number | null, dialect: Dialect) {
    this.#id = JSON.stringify(id);
    this.start = `data: {"jsonrpc":"2.0","id":${this.#id},"result":`;
    this.#dialect = dialect;
  }

  error(error: A2AError): string {
    const text = JSON.stringify(this.#dialect.rpcError.write(error));
    return `data: {"jsonrpc":"2.0","id":${this.#id},"error":${text}}\n\n`;
  }
}

/** REST: events have no envelope. */
export class RestEnvelope implements StreamEnvelope {
  readonly start = 'data: ';
  readonly end = '\n\n';
  readonly hasIds = true;
  readonly heartbeat = sseHeartbeat;
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  error(error: A2AError): string {
    return `data: ${JSON.stringify(this.#dialect.restError.write(error).body)}\n\n`;
  }
}
