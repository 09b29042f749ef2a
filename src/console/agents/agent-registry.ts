import { createHash } from 'node:crypto';
import type { Credentials } from '../../client/credentials.ts';
import type { Redactor } from '../../primitives/redaction/redaction.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentEntry, CredentialsInput } from '../console-api.ts';
import { newAgentSchema, parseRequestBody } from '../routes/request-schemas.ts';
import { enteredSecrets, toCredentials, withRedaction } from './credentials.ts';
import { type ConsoleAgentContext, ConsoleAgent } from './console-agent.ts';
import { emptyResponse, type ApiRoutes } from '../api-routes.ts';

/** An agent that the console is started with. */
export interface InitialAgent {
  readonly url: string;
  /** Identifies the agent in its conversations and reports if its URL changes at a restart. @defaultValue the URL */
  readonly identity?: string;
  /** Name until the card is known. */
  readonly name?: string;
  readonly credentials?: CredentialsInput | Credentials;
}

/** Collaborators of {@link AgentRegistry}. */
interface RegistryContext extends ConsoleAgentContext {
  /** Agents that the user added in earlier runs. */
  readonly added: readonly InitialAgent[];
  /** Receives the credentials. */
  readonly redactor: Redactor;
  /** Called with the URLs of all agents that the user added when they change. */
  readonly onChange: (addedUrls: string[]) => Promise<void>;
}

/** Agents of the console. Credentials are stored only here, in memory. */
export class AgentRegistry {
  readonly #agents = new Map<string, ConsoleAgent>();
  readonly #context: ConsoleAgentContext;
  readonly #maxAgents: number;

  readonly #onChange: (addedUrls: string[]) => Promise<void>;
  readonly #redactor: Redactor;

  constructor(
    initial: readonly InitialAgent[],
    maxAgents: number,
    { added, redactor, onChange, ...context }: RegistryContext,
  ) {
    this.#context = context;
    this.#redactor = redactor;
    this.#onChange = onChange;
    this.#maxAgents = Math.max(maxAgents, initial.length);
    for (const agent of initial) this.#put(agent, false);
    for (const agent of added)
      if (this.#agents.size < this.#maxAgents && !this.#at(agent.url)) this.#put(agent, true);
  }

  /** Replaces the initial agents. Agents added by the user stay. */
  async setInitialAgents(initial: readonly InitialAgent[]): Promise<void> {
    const next = new Map(initial.map((each) => [idOf(each), each]));
    const isKept = ({ info }: ConsoleAgent): boolean =>
      info.isRemovable || next.get(info.id)?.url === info.url;
    const removed = this.all().filter((each) => !isKept(each));
    for (const { info } of removed) if (!next.has(info.id)) this.#agents.delete(info.id);
    // An agent with another URL replaces the one before in its place.
    for (const [id, each] of next) if (this.#agents.get(id)?.info.url !== each.url) this.#put(each, false);
    await Promise.all(removed.map((each) => each.close()));
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  get(id: string): ConsoleAgent {
    const agent = this.#agents.get(id);
    if (!agent) throw new A2AError('NOT_FOUND', 'Agent not found in the console');
    return agent;
  }

  /** Returns all agents in the order in which they were added. */
  all(): ConsoleAgent[] {
    return [...this.#agents.values()];
  }

  /** Returns the name of the only agent at an origin; undefined if there are several or none. */
  nameAt(origin: string): string | undefined {
    const matches = this.all().filter(({ info }) => new URL(info.url).origin === origin);
    return matches.length === 1 ? matches[0]?.name : undefined;
  }

  readonly routes: ApiRoutes = {
    'GET agents': async () => ({
      json: await Promise.all(this.all().map((each) => each.refresh())),
    }),
    'POST agents': async ({ body }) => ({ json: await this.#add(parseRequestBody(newAgentSchema, body)) }),
    'DELETE agents/{}': async (_request, id = '') => {
      await this.#remove(this.get(id));
      return emptyResponse;
    },
  };

  /** Replaces the credentials of an agent. */
  async setCredentials(id: string, credentials: Credentials): Promise<void> {
    const previous = this.get(id);
    const { url, name, isRemovable } = previous.info;
    this.#put({ url, ...(name !== undefined && { name }), credentials }, isRemovable, id);
    await previous.close();
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((each) => each.close()));
  }

  async #add(input: InitialAgent): Promise<AgentEntry> {
    const previous = this.#at(input.url);
    if (!previous && this.#agents.size >= this.#maxAgents)
      throw new A2AError('RESOURCE_EXHAUSTED', `Too many agents: the limit is ${this.#maxAgents}`, {
        hint: 'Remove an agent first.',
      });
    const agent = this.#put(input, previous?.info.isRemovable ?? true, previous?.info.id);
    await previous?.close();
    await this.#reportChange();
    return agent.refresh();
  }

  async #remove(agent: ConsoleAgent): Promise<void> {
    if (!agent.info.isRemovable)
      throw new A2AError('CONFLICT', 'An agent of the command line cannot be removed');
    this.#agents.delete(agent.info.id);
    await this.#reportChange();
    await agent.close();
  }

  #reportChange(): Promise<void> {
    return this.#onChange(this.all().flatMap(({ info }) => (info.isRemovable ? [info.url] : [])));
  }

  /** Returns the agent with a URL. */
  #at(url: string): ConsoleAgent | undefined {
    const { href } = new URL(url);
    return this.all().find(({ info }) => new URL(info.url).href === href);
  }

  #put(agent: InitialAgent, isRemovable: boolean, id = idOf(agent)): ConsoleAgent {
    const { url, name, credentials } = agent;
    // A text with the secret may be written before the first request sends it.
    for (const secret of credentials ? enteredSecrets(credentials) : []) this.#redactor.addSecret(secret);
    const redacted = credentials && withRedaction(toCredentials(credentials), this.#redactor);
    const info = { id, url, name, credentials: redacted, isRemovable };
    const added = new ConsoleAgent(info, this.#context);
    this.#agents.set(id, added);
    return added;
  }
}

/** Returns an ID that is stable across restarts, so that URLs of the page, conversations and reports stay valid. */
function idOf({ url, identity = new URL(url).href }: InitialAgent): string {
  return createHash('sha256').update(identity).digest('hex').slice(0, 12);
}
