import { createHash } from 'node:crypto';
import type { Credentials } from '../../client/credentials.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentEntry, CredentialsInput } from '../console-api.ts';
import { newAgentSchema, parseRequestBody } from '../routes/request-schemas.ts';
import { toCredentials } from './credentials.ts';
import { type ConsoleAgentContext, ConsoleAgent } from './console-agent.ts';
import { emptyResponse, type ApiRoutes } from '../api-routes.ts';

/** An agent that the console begins with. */
export interface InitialAgent {
  readonly url: string;
  /** What to call it until its card is known. */
  readonly name?: string;
  readonly credentials?: CredentialsInput | Credentials;
}

/** The agents that the console knows. Credentials are kept here, in memory, and nowhere else. */
export class AgentRegistry {
  readonly #agents = new Map<string, ConsoleAgent>();
  readonly #tools: ConsoleAgentContext;
  readonly #maxAgents: number;

  constructor(starting: readonly InitialAgent[], maxAgents: number, tools: ConsoleAgentContext) {
    this.#tools = tools;
    this.#maxAgents = Math.max(maxAgents, starting.length);
    for (const each of starting) this.#put(each, false);
  }

  /** Goes over to others of those it began with; what people added stays. */
  async setStarting(starting: readonly InitialAgent[]): Promise<void> {
    const wanted = new Map(starting.map((each) => [idOf(each.url), each]));
    const gone = [...this.#agents.values()].filter(
      ({ facts }) => !facts.isRemovable && !wanted.has(facts.id),
    );
    for (const { facts } of gone) this.#agents.delete(facts.id);
    for (const [id, each] of wanted) if (!this.#agents.has(id)) this.#put(each, false);
    await Promise.all(gone.map((each) => each.close()));
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  get(id: string): ConsoleAgent {
    const agent = this.#agents.get(id);
    if (!agent) throw new A2AError('NOT_FOUND', 'The console does not know this agent (any more)');
    return agent;
  }

  /** The name of the one agent at an origin; undefined where there are several, or none whose name is known. */
  nameAt(origin: string): string | undefined {
    const there = [...this.#agents.values()].filter(({ facts }) => new URL(facts.url).origin === origin);
    return there.length === 1 ? there[0]?.name : undefined;
  }

  readonly routes: ApiRoutes = {
    'GET agents': async () => ({ json: await this.#list() }),
    'POST agents': async ({ body }) => ({ json: await this.#add(parseRequestBody(newAgentSchema, body)) }),
    'DELETE agents/{}': async (_request, id = '') => {
      await this.#remove(this.get(id));
      return emptyResponse;
    },
  };

  /** Ends everything that is open. */
  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((each) => each.close()));
  }

  #list(): Promise<AgentEntry[]> {
    return Promise.all([...this.#agents.values()].map((each) => each.refresh()));
  }

  async #add(given: InitialAgent): Promise<AgentEntry> {
    const before = this.#agents.get(idOf(given.url));
    if (!before && this.#agents.size >= this.#maxAgents)
      throw new A2AError('RESOURCE_EXHAUSTED', `The console keeps ${this.#maxAgents} agents at most`, {
        hint: 'Remove one first.',
      });
    const agent = this.#put(given, before?.facts.isRemovable ?? true);
    await before?.close();
    return agent.refresh();
  }

  async #remove(agent: ConsoleAgent): Promise<void> {
    if (!agent.facts.isRemovable)
      throw new A2AError('CONFLICT', 'The console was started with this agent, so it stays');
    this.#agents.delete(agent.facts.id);
    await agent.close();
  }

  #put({ url, name, credentials }: InitialAgent, isRemovable: boolean): ConsoleAgent {
    const id = idOf(url);
    const known = credentials && toCredentials(credentials);
    const agent = new ConsoleAgent({ id, url, name, credentials: known, isRemovable }, this.#tools);
    this.#agents.set(id, agent);
    return agent;
  }
}

/** The same address has the same id after a restart, so that an address of the page stays good. */
function idOf(url: string): string {
  return createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 12);
}
