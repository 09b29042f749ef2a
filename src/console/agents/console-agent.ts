import { connect, type RemoteAgent } from '../../client/connect.ts';
import type { Credentials } from '../../client/credentials.ts';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { probeVersion, type PostJson } from '../../conformance/discovery/probe-version.ts';
import { dialectForCard } from '../../dialects/card-negotiation.ts';
import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentEntry, ProtocolVariant } from '../console-api.ts';
import { credentialHeaders } from './credentials.ts';
import { formatVariant, listVariants } from './protocol-variants.ts';

/** What the console needs to speak to an agent. */
export interface ConsoleAgentContext {
  /** For what people do. */
  readonly http: HttpClient;
  /** For what the console does by itself, which is nothing that anybody wants to see on the wire. */
  readonly quietHttp: HttpClient;
}

/** What is known of an agent before anybody asked it. */
export interface ConsoleAgentInfo {
  readonly id: string;
  readonly url: string;
  /** What to call it until its card is known. */
  readonly name: string | undefined;
  readonly credentials: Credentials | undefined;
  readonly isRemovable: boolean;
}

/** Milliseconds for looking whether an agent is there. */
const patience = 5_000;

/** One agent that the console knows, with its connections. */
export class ConsoleAgent {
  readonly facts: ConsoleAgentInfo;
  readonly #tools: ConsoleAgentContext;
  /** What one connection learns of the agent, the others know. */
  readonly #memory = createEndpointCache(8);
  readonly #connections = new Map<string, RemoteAgent>();
  readonly #scout: RemoteAgent;
  /** The card has no mark of any version. */
  #isUncertain = false;
  #looking: Promise<AgentEntry> | undefined;
  #entry: AgentEntry | undefined;

  constructor(facts: ConsoleAgentInfo, tools: ConsoleAgentContext) {
    this.facts = facts;
    this.#tools = tools;
    this.#scout = connect(facts.url, {
      ...this.#options(),
      http: tools.quietHttp,
      maxRetries: 0,
      requireVerified: false,
      verifyCard: (wire) => {
        this.#isUncertain = dialectForCard(wire).uncertain;
        return { result: 'absent', reason: 'nobody looks here' };
      },
    });
  }

  /** Looks whether the agent is there, and what it says of itself. Never rejects. */
  refresh(): Promise<AgentEntry> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** What was seen last; looks where nobody has. */
  async entry(): Promise<AgentEntry> {
    return this.#entry ?? (await this.refresh());
  }

  /** What it calls itself, once that is known. */
  get name(): string | undefined {
    return this.#entry?.name ?? this.facts.name;
  }

  /** Where the card was found, if there is one. */
  async cardUrl(): Promise<string | undefined> {
    await this.entry();
    return (await this.#scout.describe().catch(() => undefined))?.cardUrl;
  }

  /** The agent, spoken to in one way; without one, in the best. */
  async over(way: ProtocolVariant | undefined): Promise<RemoteAgent> {
    const [best] = (await this.entry()).variants;
    // The best way stays open to another, because a card may be wrong about it.
    const isBest = way === undefined || (best !== undefined && formatVariant(best) === formatVariant(way));
    const key = isBest ? '' : formatVariant(way);
    let connection = this.#connections.get(key);
    if (!connection) {
      const pinned = isBest ? {} : { versions: [way.version], transports: [way.transport] };
      connection = connect(this.facts.url, { ...this.#options(), ...pinned, http: this.#tools.http });
      this.#connections.set(key, connection);
    }
    return connection;
  }

  /** Ends everything that is open. */
  async close(): Promise<void> {
    await Promise.all([this.#scout, ...this.#connections.values()].map((each) => each.close()));
  }

  #options() {
    const { credentials } = this.facts;
    return { memory: this.#memory, ...(credentials && { auth: credentials }) };
  }

  async #look(): Promise<AgentEntry> {
    const { id, url, name, credentials, isRemovable } = this.facts;
    const always = { id, url, hasCredentials: credentials !== undefined, isRemovable };
    const call = { signal: AbortSignal.timeout(patience) };
    try {
      const card = await this.#scout.check(call);
      const ways = await this.#ways(card, call.signal);
      this.#entry = {
        ...always,
        name: card.name === '' ? (name ?? url) : card.name,
        ...(card.description !== '' && { description: card.description }),
        isReachable: true,
        variants: ways,
        isStreaming: card.capabilities.streaming === true,
        requiredCredentials: asksFor(card),
      };
    } catch (thrown) {
      const {
        name: known = name ?? url,
        variants: ways = [],
        isStreaming = false,
        requiredCredentials: asked = [],
      } = this.#entry ?? {};
      this.#entry = {
        ...always,
        name: known,
        isReachable: false,
        error: call.signal.aborted
          ? `It did not answer within ${patience / 1_000} seconds.`
          : errorText(thrown),
        variants: ways,
        isStreaming,
        requiredCredentials: asked,
      };
    }
    return this.#entry;
  }

  async #ways(card: AgentCard, signal: AbortSignal): Promise<ProtocolVariant[]> {
    const { version, transport, url } = await this.#scout.describe({ signal });
    if (this.#isUncertain && transport === 'JSONRPC') {
      const http = this.#tools.quietHttp;
      const headers = await credentialHeaders(this.facts.credentials, url, http);
      const post = poster(url, { http, headers, signal });
      if ((await probeVersion(post)) === '0.1') return [{ version: '0.1', transport }];
    }
    return listVariants(card, { version, transport });
  }
}

/** Posts to an agent; one that does not answer says nothing. */
function poster(
  url: string,
  { http, headers, signal }: { http: HttpClient; headers: Record<string, string>; signal: AbortSignal },
): PostJson {
  const { origin, pathname, search } = new URL(url);
  const all = { 'content-type': 'application/json', accept: 'application/json', ...headers };
  return async (body) => {
    try {
      const path = pathname + search;
      const response = await http.request({ method: 'POST', origin, path, headers: all, body, signal });
      return await response.text(64 * 1_024);
    } catch {
      return '';
    }
  };
}

/** How much of what an agent says went wrong is told. */
const maxTold = 2_000;

/** What went wrong and what to do about it, in one text. */
export function errorText(thrown: unknown): string {
  const { message: whole, hint } = A2AError.from(thrown);
  const message = whole.length > maxTold ? `${whole.slice(0, maxTold)}…` : whole;
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}

/** The schemes that a card asks for, in a few words each. */
function asksFor({ securitySchemes = {}, securityRequirements = [] }: AgentCard): string[] {
  const wanted = new Set(securityRequirements.flatMap((each) => Object.keys(each)));
  return [...wanted].map((name) => schemeWords(name, securitySchemes[name]));
}

function schemeWords(name: string, scheme: SecurityScheme | undefined): string {
  switch (scheme?.type) {
    case 'apiKey':
      return scheme.location === 'header'
        ? `apiKey ${scheme.name}`
        : `apiKey ${scheme.name} (${scheme.location})`;
    case 'http':
      return scheme.scheme.toLowerCase();
    case 'oauth2':
    case 'openIdConnect':
    case 'mutualTLS':
      return scheme.type;
    case undefined:
      return name;
  }
}
