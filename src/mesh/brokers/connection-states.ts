import { A2AError } from '../../protocol/errors.ts';
import type { BrokerConnectionState } from './broker-connection.ts';

/** State of a connection and its listeners. `closed` is final. */
export class BrokerConnectionStates {
  #state: BrokerConnectionState;
  readonly #listeners = new Set<{ listener: (state: BrokerConnectionState) => void }>();

  constructor(state: BrokerConnectionState) {
    this.#state = state;
  }

  get state(): BrokerConnectionState {
    return this.#state;
  }

  /** Changes the state. @returns true if it differs from the previous one. */
  set(state: BrokerConnectionState): boolean {
    if (this.#state === state || this.#state === 'closed') return false;
    this.#state = state;
    for (const { listener } of this.#listeners) listener(state);
    return true;
  }

  on(listener: (state: BrokerConnectionState) => void): () => void {
    const entry = { listener };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** @throws {@link A2AError} `UNAVAILABLE` if the connection is closed. */
  check(): void {
    if (this.#state === 'closed') throw new A2AError('UNAVAILABLE', 'The broker connection is closed');
  }
}
