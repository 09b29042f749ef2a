import { connect, type RemoteAgent } from '../../client/connect.ts';
import type { ConnectOptions } from '../../client/connect-options.ts';
import type { Credentials } from '../../client/credentials.ts';
import { offeredFlows } from '../../client/oauth/login-grant.ts';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import { type AllowedDestination, DestinationPolicy } from '../../client/http/destination-policy.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { probeVersion, type PostJson } from '../../conformance/discovery/probe-version.ts';
import { dialectForCard } from '../../dialects/card-negotiation.ts';
import {
  type AgentCard,
  formatVariant,
  type ProtocolVariant,
  type SecurityScheme,
} from '../../protocol/card.ts';
import { truncate } from '../../primitives/text.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import type { AgentEndpoint, AgentEntry } from '../console-api.ts';
import { credentialHeaders } from './credentials.ts';
import { listAgentEndpoints } from './agent-endpoints.ts';
import { listVariants } from './protocol-variants.ts';

/** Collaborators of {@link ConsoleAgent}. */
export interface ConsoleAgentContext {
  /** For requests of the user. */
  readonly http: HttpClient;
  /** For background requests of the console, which are not recorded. */
  readonly quietHttp: HttpClient;
}

/** Settings of an agent. */
export interface ConsoleAgentInfo {
  readonly id: string;
  readonly url: string;
  /** Name until the card is known. */
  readonly name: string | undefined;
  readonly credentials: Credentials | undefined;
  readonly isRemovable: boolean;
}

/** Time limit of a reachability check, in milliseconds. */
const checkTimeout = 5_000;

/** An agent of the console with its connections. */
export class ConsoleAgent {
  readonly info: ConsoleAgentInfo;
  readonly #context: ConsoleAgentContext;
  /** Shared by all connections. */
  readonly #endpointCache = createEndpointCache(8);
  readonly #connections = new Map<string, RemoteAgent>();
  readonly #probe: RemoteAgent;
  /** True if the card does not identify its version. */
  #isAmbiguous = false;
  readonly #destinations = new DestinationPolicy();
  #refreshing: Promise<AgentEntry> | undefined;
  #entry: AgentEntry | undefined;

  constructor(info: ConsoleAgentInfo, context: ConsoleAgentContext) {
    this.info = info;
    this.#context = context;
    this.#destinations.trust(info.url);
    this.#probe = connect(info.url, {
      ...this.#options(),
      http: context.quietHttp,
      maxRetries: 0,
      requireVerified: false,
      verifyCard: (wire) => {
        this.#isAmbiguous = dialectForCard(wire).uncertain;
        return { result: 'absent', reason: 'not verified' };
      },
    });
  }

  /** Checks whether the agent is reachable and fetches its card. Concurrent calls share one check. Never rejects. */
  refresh(): Promise<AgentEntry> {
    this.#refreshing ??= this.#check().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Returns the result of the last check, or runs the first one. */
  async entry(): Promise<AgentEntry> {
    return this.#entry ?? (await this.refresh());
  }

  /** Name of the card, or the configured name. */
  get name(): string | undefined {
    return this.#entry?.name ?? this.info.name;
  }

  /** Returns the card. @throws {@link A2AError} if the agent does not respond */
  card(): Promise<AgentCard> {
    return this.#probe.card({ signal: AbortSignal.timeout(checkTimeout) });
  }

  /** URL of the card, if one was found. */
  async cardUrl(): Promise<string | undefined> {
    await this.entry();
    return (await this.#probe.describe().catch(() => undefined))?.cardUrl;
  }

  /** Lists the interfaces of the agent that the console supports; the one that the client uses is first. */
  async endpoints(): Promise<readonly AgentEndpoint[]> {
    const call = { signal: AbortSignal.timeout(checkTimeout) };
    const { version, transport, url, cardUrl } = await this.#probe.describe(call);
    const card = await this.#probe.card(call);
    return listAgentEndpoints(card.interfaces, { used: { version, transport, url }, cardUrl });
  }

  /**
   * Decides where a request of the user may be sent: to the origin of the agent or of an interface on its card, which must
   * pass the egress policy.
   *
   * @throws {@link A2AError} `INVALID_PARAMS` for other origins, `PERMISSION_DENIED` by the egress policy
   */
  async resolveDestination(url: string): Promise<AllowedDestination & { mayReceiveCredentials: boolean }> {
    const { origin } = new URL(url);
    if (origin !== new URL(this.info.url).origin) {
      const endpoints = await this.endpoints().catch(() => []);
      if (!endpoints.some((each) => new URL(each.url).origin === origin))
        throw invalidField('url', 'must have the origin of the agent or of an interface on its card');
    }
    const destination = await this.#destinations.resolve(url, 'call');
    return { ...destination, mayReceiveCredentials: this.#destinations.mayReceiveCredentials(origin) };
  }

  /** Returns a connection over a protocol variant, by default over the preferred one and with recorded requests. */
  async connect(
    variant: ProtocolVariant | undefined,
    { isRecorded = true }: { readonly isRecorded?: boolean } = {},
  ): Promise<RemoteAgent> {
    const [preferred] = (await this.entry()).variants;
    // The preferred variant is not pinned, so that the client can fall back if the card is wrong.
    const isPreferred =
      variant === undefined ||
      (preferred !== undefined && formatVariant(preferred) === formatVariant(variant));
    const key = `${isPreferred ? '' : formatVariant(variant)} ${isRecorded}`;
    let connection = this.#connections.get(key);
    if (!connection) {
      const pinned = isPreferred ? {} : { versions: [variant.version], transports: [variant.transport] };
      const http = isRecorded ? this.#context.http : this.#context.quietHttp;
      connection = connect(this.info.url, { ...this.#options(), ...pinned, http });
      this.#connections.set(key, connection);
    }
    return connection;
  }

  async close(): Promise<void> {
    await Promise.all([this.#probe, ...this.#connections.values()].map((each) => each.close()));
  }

  #options(): ConnectOptions {
    return { endpointCache: this.#endpointCache, auth: this.info.credentials };
  }

  async #check(): Promise<AgentEntry> {
    const { id, url, name, credentials, isRemovable } = this.info;
    const base = { id, url, hasCredentials: credentials !== undefined, isRemovable };
    const call = { signal: AbortSignal.timeout(checkTimeout) };
    try {
      const card = await this.#probe.check(call);
      const variants = await this.#listVariants(card, call.signal);
      const flows = offeredFlows(card).filter((each) => each !== 'client-credentials');
      this.#entry = {
        ...base,
        name: card.name === '' ? (name ?? url) : card.name,
        ...(card.description !== '' && { description: card.description }),
        isReachable: true,
        variants,
        isStreaming: card.capabilities.streaming === true,
        requiredCredentials: listRequiredCredentials(card),
        ...(flows.length > 0 && { loginFlows: flows }),
      };
    } catch (thrown) {
      const unknown = { name: name ?? url, variants: [], isStreaming: false, requiredCredentials: [] };
      const timeout = `No response within ${checkTimeout / 1_000} seconds.`;
      const error = call.signal.aborted ? timeout : errorText(thrown);
      this.#entry = {
        ...(this.#entry ?? unknown),
        ...base,
        description: undefined,
        isReachable: false,
        error,
      };
    }
    return this.#entry;
  }

  async #listVariants(card: AgentCard, signal: AbortSignal): Promise<ProtocolVariant[]> {
    const { version, transport, url } = await this.#probe.describe({ signal });
    if (this.#isAmbiguous && transport === 'JSONRPC') {
      const http = this.#context.quietHttp;
      const headers = await credentialHeaders(this.info.credentials, url, http);
      const post = createPost(url, { http, headers, signal });
      if ((await probeVersion(post)) === '0.1') return [{ version: '0.1', transport }];
    }
    return listVariants(card, { version, transport });
  }
}

/** Creates a function that posts JSON to an agent. It returns an empty text on errors. */
function createPost(
  url: string,
  { http, headers, signal }: { http: HttpClient; headers: Record<string, string>; signal: AbortSignal },
): PostJson {
  const { origin, pathname, search } = new URL(url);
  const allHeaders = { 'content-type': 'application/json', accept: 'application/json', ...headers };
  return async (body) => {
    try {
      const request = {
        method: 'POST' as const,
        origin,
        path: pathname + search,
        headers: allHeaders,
        body,
        signal,
      };
      return await (await http.request(request)).text(64 * 1_024);
    } catch {
      return '';
    }
  };
}

/** Maximum length of an error message of an agent, in characters. */
const maxMessageLength = 2_000;

/** Returns the message and the hint of an error as one text. */
export function errorText(thrown: unknown): string {
  const { message: fullMessage, hint } = A2AError.from(thrown);
  const message = truncate(fullMessage, maxMessageLength);
  const sentence = /[.!?…]$/.test(message) ? message : `${message}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}

/** Returns a short description of each required security scheme. */
export function listRequiredCredentials({
  securitySchemes = {},
  securityRequirements = [],
}: AgentCard): string[] {
  const required = new Set(securityRequirements.flatMap((each) => Object.keys(each)));
  return [...required].map((name) => formatScheme(name, securitySchemes[name]));
}

function formatScheme(name: string, scheme: SecurityScheme | undefined): string {
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
