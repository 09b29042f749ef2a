import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import { raceAbort } from '../../primitives/abort.ts';
import type { ClientSettings } from '../connect-options.ts';
import { discover, type DiscoveredAgent, refreshDiscovery } from './discover.ts';
import { EndpointSelection } from './endpoint-selection.ts';

/** Discovers an agent at the first call and caches the result. */
export class AgentResolver {
  readonly #target: string | URL | object;
  readonly #settings: ClientSettings;
  #discovery: Promise<EndpointSelection> | undefined;
  #refreshing: Promise<void> | undefined;
  #closed = false;
  /** The discovered agent; undefined before the first call. */
  selection: EndpointSelection | undefined;

  constructor(target: string | URL | object, settings: ClientSettings) {
    this.#target = target;
    this.#settings = settings;
  }

  /** Discovers the agent once for all concurrent calls. An aborted call does not abort it for the others. */
  resolve(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    if (this.#closed) return Promise.reject(connectionClosedError());
    if (signal?.aborted) return Promise.reject(canceledError(signal));
    if (this.selection) return Promise.resolve(this.selection);
    this.#discovery ??= discover(this.#settings, this.#target)
      .then((agent) => (this.selection = new EndpointSelection(agent, this.#settings)))
      .finally(() => {
        this.#discovery = undefined;
      });
    return signal ? raceAbort(this.#discovery, signal, canceledError) : this.#discovery;
  }

  /** Returns the agent with a card that has not expired. */
  async resolveFresh(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    const isKnown = this.selection !== undefined;
    const selection = await this.resolve(signal);
    const { fetchedCard } = selection.agent;
    if (!isKnown || !fetchedCard || this.#settings.clock.monotonic() < fetchedCard.freshUntil)
      return selection;
    this.#refreshing ??= this.#refreshExpired(selection).finally(() => {
      this.#refreshing = undefined;
    });
    await (signal ? raceAbort(this.#refreshing, signal, canceledError) : this.#refreshing);
    return this.selection ?? selection;
  }

  /** Returns the agent with a card that was fetched just now. */
  async refresh(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    const isKnown = this.selection !== undefined;
    const selection = await this.resolve(signal);
    if (!isKnown || !selection.agent.fetchedCard) return selection;
    const refreshed = refreshDiscovery(this.#settings, selection.agent);
    this.#replace(selection, await (signal ? raceAbort(refreshed, signal, canceledError) : refreshed));
    return this.selection ?? selection;
  }

  #replace(selection: EndpointSelection, agent: DiscoveredAgent): void {
    if (agent !== selection.agent && this.selection === selection)
      this.selection = new EndpointSelection(agent, this.#settings);
  }

  /** Keeps an expired card if it cannot be fetched again, but not if it must not be used. */
  async #refreshExpired(selection: EndpointSelection): Promise<void> {
    try {
      this.#replace(selection, await refreshDiscovery(this.#settings, selection.agent));
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason === 'PERMISSION_DENIED') {
        this.invalidate();
        throw error;
      }
      const message = `The card at ${selection.agent.cardUrl} has expired and could not be fetched again`;
      this.#settings.warn({ kind: 'stale', message, error });
    }
  }

  /** Discards the result; the next call discovers the agent again. */
  invalidate(): void {
    this.selection = undefined;
  }

  /** Rejects all further calls. */
  close(): void {
    this.#closed = true;
    this.selection = undefined;
  }
}

export function connectionClosedError(): A2AError {
  return new A2AError('CANCELED', 'The connection to the agent was closed');
}

/** Creates a card for an agent without one. */
export function placeholderCard({ endpoint }: EndpointSelection): AgentCard {
  const { url, transport, dialect } = endpoint;
  return {
    name: new URL(url).host,
    description: 'An agent without a card',
    version: '',
    interfaces: [{ url, protocolBinding: transport, protocolVersion: dialect.version }],
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  };
}
