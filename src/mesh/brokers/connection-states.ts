import { A2AError } from '../../protocol/errors.ts';
import type { BrokerConnectionState } from './broker-connection.ts';

/** The state of a link, and who wants to know. Once closed it stays so. */
export class BrokerConnectionStates {
  #state: BrokerConnectionState;
  readonly #listeners = new Set<{ changed: (state: BrokerConnectionState) => void }>();

  constructor(state: BrokerConnectionState) {
    this.#state = state;
  }

  get state(): BrokerConnectionState {
    return this.#state;
  }

  /** Changes the state. @returns whether it was another one. */
  set(state: BrokerConnectionState): boolean {
    if (this.#state === state || this.#state === 'closed') return false;
    this.#state = state;
    for (const { changed } of this.#listeners) changed(state);
    return true;
  }

  on(changed: (state: BrokerConnectionState) => void): () => void {
    const listener = { changed };
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Refuses what is asked of a closed link. */
  check(): void {
    if (this.#state === 'closed') throw new A2AError('UNAVAILABLE', 'The link is closed');
  }
}
