import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { abortError } from '../abortable-sleep.ts';
import type { ClientSettings } from '../connect-options.ts';
import { discover, type DiscoveredAgent, refreshDiscovery } from './discover.ts';
import { EndpointSelection } from './endpoint-selection.ts';

/** Finds an agent when it is first needed, and keeps what was found. */
export class AgentResolver {
  readonly #where: string | URL | object;
  readonly #settings: ClientSettings;
  #finding: Promise<EndpointSelection> | undefined;
  #renewing: Promise<void> | undefined;
  #closed = false;
  /** What was found, once it was. */
  selection: EndpointSelection | undefined;

  constructor(where: string | URL | object, settings: ClientSettings) {
    this.#where = where;
    this.#settings = settings;
  }

  /** Finds the agent once for everybody who asks; one who gives up does not end it for the others. */
  resolve(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    if (this.#closed) return Promise.reject(connectionClosedError());
    if (signal?.aborted) return Promise.reject(abortError(signal));
    if (this.selection) return Promise.resolve(this.selection);
    this.#finding ??= discover(this.#settings, this.#where)
      .then((found) => (this.selection = new EndpointSelection(found, this.#settings)))
      .finally(() => {
        this.#finding = undefined;
      });
    return signal ? whileWanted(this.#finding, signal) : this.#finding;
  }

  /** Finds the agent with a card that is not too old. */
  async resolveFresh(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    const isKnown = this.selection !== undefined;
    const route = await this.resolve(signal);
    const { fetched } = route.agent;
    if (!isKnown || !fetched || this.#settings.clock.now() < fetched.freshUntil) return route;
    this.#renewing ??= this.#renew(route).finally(() => {
      this.#renewing = undefined;
    });
    await (signal ? whileWanted(this.#renewing, signal) : this.#renewing);
    return this.selection ?? route;
  }

  /** Finds the agent with a card that was asked for just now. */
  async refresh(signal: AbortSignal | undefined): Promise<EndpointSelection> {
    const isKnown = this.selection !== undefined;
    const route = await this.resolve(signal);
    if (!isKnown || !route.agent.fetched) return route;
    const work = refreshDiscovery(this.#settings, route.agent);
    this.#replace(route, await (signal ? whileWanted(work, signal) : work));
    return this.selection ?? route;
  }

  #replace(route: EndpointSelection, found: DiscoveredAgent): void {
    if (found !== route.agent && this.selection === route)
      this.selection = new EndpointSelection(found, this.#settings);
  }

  /** Asks for the card again. One that cannot be had does not take away the old one; one that may not be used does. */
  async #renew(route: EndpointSelection): Promise<void> {
    try {
      this.#replace(route, await refreshDiscovery(this.#settings, route.agent));
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason === 'PERMISSION_DENIED') {
        this.invalidate();
        throw error;
      }
      const message = `The card at ${route.agent.cardUrl} is too old and could not be had again`;
      this.#settings.report({ kind: 'stale', message, error });
    }
  }

  /** Looks again at the next call. */
  invalidate(): void {
    this.selection = undefined;
  }

  /** Finds nothing any more. */
  close(): void {
    this.#closed = true;
    this.selection = undefined;
  }
}

/** The error of a call after the end. */
export function connectionClosedError(): A2AError {
  return new A2AError('CANCELED', 'The connection to the agent was closed here');
}

/** All that can be said of an agent without a card. */
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

function whileWanted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(abortError(signal));
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}
