import type { Dialect } from '../../dialects/dialect.ts';
import type { A2AError } from '../../protocol/errors.ts';

/** What surrounds the text of each event of a stream. An open stream holds one for hours, so it is small. */
export interface StreamEnvelope {
  /** The text of an event in its surroundings. */
  event(text: string): string;
  /** The text of an error in the middle of a stream. */
  error(error: A2AError): string;
}

/** Each event is a response to the request that opened the stream. */
export class RpcEnvelope implements StreamEnvelope {
  readonly #id: string;
  readonly #dialect: Dialect;

  constructor(id: string | number | null, dialect: Dialect) {
    this.#id = JSON.stringify(id);
    this.#dialect = dialect;
  }

  event(text: string): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"result":${text}}`;
  }

  error(error: A2AError): string {
    return `{"jsonrpc":"2.0","id":${this.#id},"error":${JSON.stringify(this.#dialect.rpcError.write(error))}}`;
  }
}

/** Over REST an event stands for itself. */
export class RestEnvelope implements StreamEnvelope {
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  event(text: string): string {
    return text;
  }

  error(error: A2AError): string {
    return JSON.stringify(this.#dialect.restError.write(error).body);
  }
}
