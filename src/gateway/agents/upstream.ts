import { readFileSync } from 'node:fs';
import { connect, type RemoteAgent } from '../../client/connect.ts';
import { type Clock, systemClock } from '../../client/abortable-sleep.ts';
import type { Credentials } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import type { ClientTls, ConnectOptions } from '../../client/connect-options.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { buildCredentials, withForwardedHeaders, noCredentials } from '../config/credentials.ts';
import type { ProxiedAgent } from '../config/proxied-agent-schema.ts';
import { withTotalTimeout } from '../middleware/total-timeout.ts';

/** What upstreams share. Everything has a default. */
export interface UpstreamContext
  extends Pick<ConnectOptions, 'onWarning' | 'onLoss' | 'endpointCache' | 'verifyCard' | 'requireVerified'> {
  /**
   * Makes the requests of every upstream that has no TLS of its own. It is not closed with the upstream.
   * @defaultValue one client for each upstream
   */
  http?: HttpClient;
  /** Puts something around the client of an upstream that has TLS of its own. */
  wrapHttp?: ((http: HttpClient) => HttpClient) | undefined;
  clock?: Clock;
  /** Gives numbers from 0 to 1, for delays. */
  random?: () => number;
  /**
   * Seconds for an answer where the agent's own entry says nothing.
   * @defaultValue 300
   */
  defaultTimeoutSeconds?: number;
  /** Milliseconds to wait for a connection. @defaultValue 10 000 */
  connectTimeout?: number;
}

/** How an upstream is, as far as anybody looked. */
export interface UpstreamHealth {
  readonly state: 'unknown' | 'up' | 'down';
  /** When it came into this state, by the clock. */
  readonly since: number;
  /** Why it is down. */
  readonly error?: A2AError;
}

/** An agent at a URL that is to be shown elsewhere. */
export interface Upstream {
  readonly name: string;
  readonly config: ProxiedAgent;
  /** One for all callers, bounded in what it holds. */
  readonly agent: RemoteAgent;
  readonly health: UpstreamHealth;
  /** Looks whether it is there: fetches its card anew. Rejects when it is not; `health` says so too. */
  check(signal?: AbortSignal): Promise<AgentCard>;
  /** Ends what is open. */
  close(): Promise<void>;
}

/**
 * Makes the agent that one entry of a file describes. Nothing is sent before the first call.
 *
 * @throws A2AError `INVALID_PARAMS` when the entry cannot be meant.
 */
export function createUpstream(config: ProxiedAgent, tools: UpstreamContext = {}): Upstream {
  const clock = tools.clock ?? systemClock;
  const url = config.url.replace(/\/+$/, '');
  const options = connectOptions(config, url, tools);
  const { tls, timeouts } = options;
  const own =
    tls &&
    tools.wrapHttp?.(
      undiciHttpClient({ connectTimeout: timeouts?.connect ?? 10_000, maxConnections: 256, tls }),
    );
  const remote = connect(
    config.agent_card_data ? filledCard(config, url) : url,
    own ? { ...options, tls: undefined, http: own } : options,
  );
  const total = config.total_timeout_seconds;
  const agent = total === undefined ? remote : withTotalTimeout(remote, total * 1000, clock);
  let health: UpstreamHealth = { state: 'unknown', since: clock.now() };
  const became = (state: 'up' | 'down', error?: A2AError): void => {
    health = { state, since: health.state === state ? health.since : clock.now(), ...(error && { error }) };
  };
  return {
    name: config.name,
    config,
    agent,
    get health() {
      return health;
    },
    async check(signal) {
      try {
        const card = await agent.check({ signal });
        became('up');
        return card;
      } catch (thrown) {
        const error = A2AError.from(thrown);
        if (error.reason !== 'CANCELED') became('down', error);
        throw error;
      }
    },
    async close() {
      await agent.close();
      await own?.close();
    },
  };
}

function connectOptions(config: ProxiedAgent, url: string, tools: UpstreamContext): ConnectOptions {
  const {
    http,
    clock,
    random,
    onWarning: onProblem,
    onLoss,
    endpointCache: memory,
    verifyCard,
    requireVerified,
  } = tools;
  const patience = (config.request_timeout_seconds ?? tools.defaultTimeoutSeconds ?? 300) * 1000;
  const total = config.total_timeout_seconds === undefined ? patience : config.total_timeout_seconds * 1000;
  const tls = tlsOf(config);
  const { egress } = config;
  return {
    ...authOf(config, clock ?? systemClock),
    cardPath: cardUrlOf(config, url),
    cardHeaders: headersOf(config.agent_card_headers),
    headers: headersOf(config.task_headers),
    endpoint: config.use_agent_card_url === false ? url : undefined,
    redirects: config.redirects ?? 'anywhere',
    egress: {
      allow: egress?.allow,
      allowLoopback: egress?.allow_loopback,
      allowPrivate: egress?.allow_private,
    },
    timeouts: {
      connect: Math.min(tools.connectTimeout ?? 10_000, patience),
      read: Math.min(30_000, patience),
      send: total,
      idle: patience,
    },
    versions: config.a2a_version && [config.a2a_version],
    transports: config.transport && [config.transport],
    tenant: config.tenant,
    // A client that others use too cannot have the certificates of one.
    ...(tls ? { tls } : { http }),
    clock,
    random,
    endpointCache: memory,
    onWarning: onProblem,
    onLoss,
    verifyCard,
    requireVerified,
  };
}

/** Separate credentials for card and tasks. */
function authOf(config: ProxiedAgent, clock: Clock): Pick<ConnectOptions, 'auth' | 'cardAuth'> {
  const made = (name: 'authentication' | 'agent_card_authentication' | 'task_authentication') => {
    const given = config[name];
    return given && buildCredentials(given, name, () => clock.now());
  };
  const both = made('authentication');
  let auth: Credentials | undefined = made('task_authentication') ?? both;
  if (config.forward_headers && config.forward_headers.length > 0)
    auth = withForwardedHeaders(config.forward_headers, auth);
  const cardAuth = made('agent_card_authentication') ?? (config.use_auth_for_agent_card ? both : undefined);
  const isForbidden = config.use_auth_for_agent_card === false || config.task_authentication !== undefined;
  return { auth, cardAuth: cardAuth ?? (isForbidden ? noCredentials : undefined) };
}

/** A path belongs behind the whole URL, whatever it begins with. */
function cardUrlOf({ agent_card_path: path }: ProxiedAgent, url: string): string | undefined {
  if (path === undefined) return undefined;
  return /^https?:/.test(path) ? path : `${url}/${path.replace(/^\/+/, '')}`;
}

function headersOf(given: ProxiedAgent['task_headers']): Record<string, string> | undefined {
  if (!Array.isArray(given)) return given;
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

function tlsOf(config: ProxiedAgent): ClientTls | undefined {
  const { ssl_verify, ssl_ca, ssl_cert, ssl_key } = config;
  if (ssl_verify !== false && !ssl_ca && !ssl_cert) return undefined;
  return {
    verify: ssl_verify,
    ca: readPem(ssl_ca, 'ssl_ca'),
    cert: readPem(ssl_cert, 'ssl_cert'),
    key: readPem(ssl_key, 'ssl_key'),
  };
}

function readPem(file: string | undefined, field: string): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    throw invalidField(field, `cannot be read: ${(thrown as Error).message}`);
  }
}

/** A card that somebody wrote into a file, with everything that a card must have. */
function filledCard(config: ProxiedAgent, url: string): object {
  const given = config.agent_card_data ?? {};
  const hasAddress = ['url', 'supportedInterfaces', 'supported_interfaces', 'interfaces'].some(
    (key) => given[key] !== undefined,
  );
  return {
    name: config.display_name ?? config.name,
    description: '',
    version: '',
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
    ...(!hasAddress && { url }),
    ...given,
  };
}
