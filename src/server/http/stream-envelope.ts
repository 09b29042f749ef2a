import type { Dialect } from '../../dialects/dialect.ts';
import type { A2AError } from '../../protocol/errors.ts';

/** Envelope around each event of a stream. It is small, because a stream may stay open for hours. */
export interface StreamEnvelope {
  /** Text of an SSE frame before the JSON of an event. */
  readonly start: string;
  /** Text of an SSE frame after the JSON of an event. */
  readonly end: string;
  /** Returns the JSON of an error within a stream. */
  error(error: A2AError): string;
}

/** JSON-RPC: each event is a response to the request that opened the stream. */
export class RpcEnvelope implements StreamEnvelope {
  readonly start: string;
  readonly end = '}\n\n';
  readonly #id: string;
  readonly #dialect: Dialect;

  constructor(id: string | number | null, dialect: Dialect) {
    this.#id = JSON.stringify(id);
    this.start = `data: {"jsonrpc":"2.0","id":${this.#id},"result":`;
    this.#dialect = dialect;
  }

  error(error: A2AError): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"error":${JSON.stringify(this.#dialect.rpcError.write(error))}}`;
  }
}

/** REST: events have no envelope. */
export class RestEnvelope implements StreamEnvelope {
  readonly start = 'data: ';
  readonly end = '\n\n';
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  error(error: A2AError): string {
    return JSON.stringify(this.#dialect.restError.write(error).body);
  }
}
