import { readFileSync } from 'node:fs';
import { connect, type RemoteAgent } from '../../client/connect.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { Credentials } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import type { ClientTls, ConnectOptions } from '../../client/connect-options.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { withTimeouts } from '../../protocol/composition/with-timeouts.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';
import { buildCredentials, withForwardedHeaders, noCredentials } from '../config/credentials.ts';
import type { ProxiedAgent } from '../config/proxied-agent-schema.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** Collaborators of {@link createUpstream}. All members are optional. */
export interface UpstreamContext
  extends Pick<
    ConnectOptions,
    'onWarning' | 'onLoss' | 'endpointCache' | 'verifyCard' | 'requireVerified' | 'taskIdAliases'
  > {
  /**
   * Sends the requests of upstreams without TLS settings of their own. It is not closed with the upstream.
   * @defaultValue one HTTP client per upstream
   */
  http?: HttpClient;
  /** Wraps the HTTP client of an upstream that has TLS settings of its own. */
  wrapHttp?: ((http: HttpClient) => HttpClient) | undefined;
  clock?: Clock;
  /** Returns numbers from 0 to 1, for jitter. */
  random?: () => number;
  /** Timeout in seconds of entries without `request_timeout_seconds`. @defaultValue 300 */
  defaultTimeoutSeconds?: number;
  /** Milliseconds to wait for a connection. @defaultValue 10 000 */
  connectTimeout?: number;
}

/** Result of the last health check of an upstream. `unknown` before the first one. */
export interface UpstreamHealth {
  readonly state: 'unknown' | 'up' | 'down';
  /** Time of the last state change, in milliseconds of the clock. */
  readonly since: number;
  /** Error of the last check, if `down`. */
  readonly error?: A2AError;
}

/** An agent behind the gateway. */
export interface Upstream {
  readonly name: string;
  readonly config: ProxiedAgent;
  /** Shared by all clients of the gateway; its caches are bounded. */
  readonly agent: RemoteAgent;
  readonly health: UpstreamHealth;
  /** Health check: fetches the card again and updates `health`. Rejects if the upstream is down. */
  check(signal?: AbortSignal): Promise<AgentCard>;
  close(): Promise<void>;
}

/**
 * Creates the upstream of one configuration entry. Sends no request before the first call.
 *
 * @throws A2AError `INVALID_PARAMS` if the entry is invalid.
 */
export function createUpstream(config: ProxiedAgent, context: UpstreamContext = {}): Upstream {
  const clock = context.clock ?? systemClock;
  const url = stripTrailing(config.url, '/');
  const options = connectOptions(config, url, context);
  const { tls, timeouts } = options;
  const ownHttp =
    tls &&
    context.wrapHttp?.(
      undiciHttpClient({ connectTimeout: timeouts?.connect ?? 10_000, maxConnections: 256, tls }),
    );
  const remote = connect(
    config.agent_card_data ? completeCard(config, url) : url,
    ownHttp ? { ...options, tls: undefined, http: ownHttp } : options,
  );
  const agent = withTimeouts(remote, {
    total: (config.total_timeout_seconds ?? 0) * 1000,
    // The client limits sends.
    operations: ['stream', 'subscribe'],
    clock,
    describe: (_total, milliseconds) => `The stream exceeded its total timeout of ${milliseconds / 1000} s`,
  });
  let health: UpstreamHealth = { state: 'unknown', since: clock.now() };
  const setHealth = (state: 'up' | 'down', error?: A2AError): void => {
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
        setHealth('up');
        return card;
      } catch (thrown) {
        const error = A2AError.from(thrown);
        if (error.reason !== 'CANCELED') setHealth('down', error);
        throw error;
      }
    },
    async close() {
      await agent.close();
      await ownHttp?.close();
    },
  };
}

function connectOptions(config: ProxiedAgent, url: string, context: UpstreamContext): ConnectOptions {
  const { http, clock, random, onWarning, onLoss, endpointCache, verifyCard, requireVerified } = context;
  const timeout = (config.request_timeout_seconds ?? context.defaultTimeoutSeconds ?? 300) * 1000;
  const totalTimeout =
    config.total_timeout_seconds === undefined ? timeout : config.total_timeout_seconds * 1000;
  const tls = readTls(config);
  const { egress } = config;
  return {
    ...resolveAuth(config, clock ?? systemClock),
    credentialOrigins: config.credential_origins,
    cardPath: resolveCardUrl(config, url),
    cardHeaders: toHeaders(config.agent_card_headers),
    headers: toHeaders(config.task_headers),
    endpoint: config.use_agent_card_url === false ? url : undefined,
    redirects: config.redirects ?? 'anywhere',
    egress: {
      allow: egress?.allow,
      allowLoopback: egress?.allow_loopback,
      allowPrivate: egress?.allow_private,
    },
    timeouts: {
      connect: Math.min(context.connectTimeout ?? 10_000, timeout),
      read: Math.min(30_000, timeout),
      send: totalTimeout,
      idle: timeout,
    },
    versions: config.a2a_version && [config.a2a_version],
    transports: config.transport && [config.transport],
    tenant: config.tenant,
    // A shared HTTP client cannot have the certificates of one upstream.
    ...(tls ? { tls } : { http }),
    clock,
    random,
    endpointCache,
    onWarning,
    onLoss,
    verifyCard,
    requireVerified,
    taskIdAliases: context.taskIdAliases,
  };
}

function resolveAuth(config: ProxiedAgent, clock: Clock): Pick<ConnectOptions, 'auth' | 'cardAuth'> {
  const build = (name: 'authentication' | 'agent_card_authentication' | 'task_authentication') => {
    const value = config[name];
    return value && buildCredentials(value, name, () => clock.now());
  };
  const both = build('authentication');
  let auth: Credentials | undefined = build('task_authentication') ?? both;
  if (config.forward_headers && config.forward_headers.length > 0)
    auth = withForwardedHeaders(config.forward_headers, auth);
  const cardAuth = build('agent_card_authentication') ?? (config.use_auth_for_agent_card ? both : undefined);
  const isForbidden = config.use_auth_for_agent_card === false || config.task_authentication !== undefined;
  return { auth, cardAuth: cardAuth ?? (isForbidden ? noCredentials : undefined) };
}

/** A path is appended to the URL of the agent, with or without a leading slash. */
function resolveCardUrl({ agent_card_path: path }: ProxiedAgent, url: string): string | undefined {
  if (path === undefined) return undefined;
  return /^https?:/.test(path) ? path : `${url}/${path.replace(/^\/+/, '')}`;
}

function toHeaders(headers: ProxiedAgent['task_headers']): Record<string, string> | undefined {
  if (!Array.isArray(headers)) return headers;
  return Object.fromEntries(headers.map(({ name, value }) => [name, value]));
}

function readTls(config: ProxiedAgent): ClientTls | undefined {
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
    throw invalidField(field, `must be a readable file: ${(thrown as Error).message}`);
  }
}

/** Applies defaults for the required fields of a card from the configuration file. */
function completeCard(config: ProxiedAgent, url: string): object {
  const card = config.agent_card_data ?? {};
  const hasAddress = ['url', 'supportedInterfaces', 'supported_interfaces', 'interfaces'].some(
    (key) => card[key] !== undefined,
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
    ...card,
  };
}
