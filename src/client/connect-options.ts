import type { SecureContextOptions } from 'node:tls';
import type { EgressOptions } from '../egress/egress-options.ts';
import type { EgressPolicy } from '../egress/egress-policy.ts';
import type { TranslationLoss } from '../dialects/translation-loss.ts';
import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion, Transport } from '../protocol/card.ts';
import { type A2AError, invalidField } from '../protocol/errors.ts';
import { LazyTracing } from '../tracing/tracing.ts';
import { type Clock, systemClock } from './abortable-sleep.ts';
import type { Credentials } from './credentials.ts';
import { type FetchLike, fetchHttpClient } from './http/fetch-driver.ts';
import { DestinationPolicy } from './http/destination-policy.ts';
import type { HttpClient } from './http/http-client.ts';
import { undiciHttpClient } from './http/undici-driver.ts';
import { type EndpointCache, sharedEndpointCache } from './discovery/endpoint-cache.ts';
import type { VerifyCard } from './discovery/card-verification.ts';

/** How far redirects are followed. */
export type RedirectPolicy = 'nowhere' | 'origin' | 'anywhere';

/** How encrypted connections are made. */
export interface ClientTls extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'passphrase'> {
  /**
   * Looks at the certificate of the peer.
   * @defaultValue true; false believes anybody, which is for development
   */
  verify?: boolean;
}

/** Something that went wrong and was got over. */
export interface ClientWarning {
  /**
   * `frame`: a piece of a stream made no sense and was skipped. `resume`: a stream broke and is being resumed.
   * `poll`: a task cannot be followed and is asked for again and again. `fallback`: the agent does not speak what its
   * card says, and something else is tried. `refused`: the card names an address that `egress` does not allow.
   * `stale`: the card is too old and could not be had again. `unverified`: nobody vouches for the card.
   */
  kind: 'frame' | 'resume' | 'poll' | 'fallback' | 'refused' | 'stale' | 'unverified';
  message: string;
  error: A2AError;
  taskId?: string;
}

/** Of what something was lost in translation. */
export interface LossContext {
  operation: Operation | 'card';
  /** Where the agent is; undefined for a card that was given. */
  url: string | undefined;
}

/** How long to wait, in milliseconds. */
export interface ClientTimeouts {
  /**
   * For a connection.
   * @defaultValue 10 000
   */
  connect: number;
  /**
   * For the whole answer to a question.
   * @defaultValue 30 000
   */
  read: number;
  /**
   * For the whole answer to a send, which may wait for the task.
   * @defaultValue 300 000
   */
  send: number;
  /**
   * For a sign of life on a stream; any byte is one. 0 waits for ever.
   * @defaultValue 60 000
   */
  idle: number;
}

/** How long to wait between two looks at a task that cannot be followed, in milliseconds. */
export interface PollingOptions {
  /**
   * Before the first look. Each wait is twice the last one, and where there was news at most four times this.
   * @defaultValue 50
   */
  initialDelay: number;
  /**
   * At most.
   * @defaultValue 5 000
   */
  maxDelay: number;
}

/** How large a thing may be, in bytes. */
export interface ClientLimits {
  /**
   * One answer.
   * @defaultValue 64 MiB
   */
  body: number;
  /**
   * One event of a stream.
   * @defaultValue 64 MiB
   */
  frame: number;
}

/** How to reach an agent and how to behave towards it. Everything has a default. */
export interface ConnectOptions {
  /** Credentials for every request. A card is asked for without them first. */
  auth?: Credentials;
  /** Credentials for the card, if it needs others. */
  cardAuth?: Credentials;
  /** Headers of every request to the agent. Those of `call.headers` are never passed on. */
  headers?: Readonly<Record<string, string>>;
  /** Headers of the request for the card. */
  cardHeaders?: Readonly<Record<string, string>>;
  /** Where the card is, relative to the URL, if it is at no usual place. */
  cardPath?: string;
  /** Where requests go, whatever the card says: for agents whose card names an address that is of no use here. */
  endpoint?: string;
  /**
   * How far redirects of requests are followed; credentials never go along to another origin, and `egress` has to
   * allow it. A POST follows 307 and 308 only. Cards are looked for anywhere.
   * @defaultValue `origin`
   */
  redirects?: RedirectPolicy;
  /** Certificates to trust and to show. Only for the built-in driver. */
  tls?: ClientTls;
  /**
   * The transports to use, the favourite first.
   * @defaultValue both, in the order of the card
   */
  transports?: readonly Transport[];
  /**
   * The versions to speak, the favourite first.
   * @defaultValue all, in the order of the card
   */
  versions?: readonly ProtocolVersion[];
  /** The tenant to name, instead of the one in the card. */
  tenant?: string;
  /**
   * Where the agent may lead: an interface of its card, or a redirect, at another origin than the one that was given.
   * That must be on the public internet, or be an exception that these options make; `false` goes anywhere. What was
   * given (the URL, `cardPath`, a whole card, the `tokenUrl` of credentials) needs no permission, and if that is this
   * machine, neither does another port of it. The built-in driver connects to the address that was checked; with
   * `fetch` only the URL is checked, so that a public name may still lead to a private address.
   * @defaultValue the public internet
   */
  egress?: EgressOptions | EgressPolicy | false;
  timeouts?: Partial<ClientTimeouts>;
  /** How often a task is asked for where the agent cannot stream. */
  polling?: Partial<PollingOptions>;
  limits?: Partial<ClientLimits>;
  /**
   * How often a request is repeated where that is safe.
   * @defaultValue 3
   */
  maxRetries?: number;
  /**
   * How often in a row a broken stream is taken up again without anything new coming of it.
   * @defaultValue 5
   */
  maxResumes?: number;
  /**
   * Connections to one origin at a time; each open stream takes one. Only for the built-in driver.
   * @defaultValue 256
   */
  maxConnections?: number;
  /** Makes the requests, instead of the built-in driver: for browsers, workers and tests. */
  fetch?: FetchLike;
  /** Makes the requests, instead of the built-in driver. It is not closed with the agent. */
  http?: HttpClient;
  /** Remembers what agents really speak. Shared by default. */
  endpointCache?: EndpointCache;
  /** Told about everything that went wrong and was got over. */
  onWarning?: (problem: ClientWarning) => void;
  /**
   * Told what an answer, an event or a card said that could not be understood as it was, or did not say, and what the
   * version of the agent has no word for in a request.
   */
  onLoss?: (losses: readonly TranslationLoss[], context: LossContext) => void;
  /**
   * Says whether a card is what its writer wrote, before it is believed: `(card, { fetchKey }) => verifyCard(card, …)`
   * with `verifyCard` of `dragoman/signing`. A card with a wrong signature is never used.
   */
  verifyCard?: VerifyCard;
  /**
   * Refuses agents without a card that `verifyCard` found to be right.
   * @defaultValue true where `verifyCard` is given, because anybody can leave a signature out
   */
  requireVerified?: boolean;
  /**
   * Puts each operation into a span of OpenTelemetry and tells the agent which trace it belongs to.
   * @defaultValue true where OpenTelemetry was set up before
   */
  tracing?: boolean;
  clock?: Clock;
  /** Gives numbers from 0 to 1, for delays. */
  random?: () => number;
}

/** The options with everything filled in. */
export interface ClientSettings {
  readonly auth: Credentials | undefined;
  readonly cardAuth: Credentials | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly cardHeaders: Readonly<Record<string, string>>;
  readonly cardPath: string | undefined;
  readonly endpoint: string | undefined;
  readonly redirects: RedirectPolicy;
  readonly transports: readonly Transport[] | undefined;
  readonly versions: readonly ProtocolVersion[] | undefined;
  readonly tenant: string | undefined;
  readonly gate: DestinationPolicy;
  readonly timeouts: Readonly<ClientTimeouts>;
  readonly polling: Readonly<PollingOptions>;
  readonly limits: Readonly<ClientLimits>;
  readonly retries: number;
  readonly resumes: number;
  readonly http: HttpClient;
  readonly ownsHttp: boolean;
  readonly memory: EndpointCache;
  readonly report: (problem: ClientWarning) => void;
  readonly onLoss: ((losses: readonly TranslationLoss[], context: LossContext) => void) | undefined;
  readonly verifyCard: VerifyCard | undefined;
  readonly requireVerified: boolean;
  readonly tracing: LazyTracing;
  readonly clock: Clock;
  readonly random: () => number;
}

const bytes64M = 64 * 1024 * 1024;

/** Fills in the defaults. */
export function resolveSettings(options: ConnectOptions): ClientSettings {
  const timeouts = { connect: 10_000, read: 30_000, send: 300_000, idle: 60_000, ...options.timeouts };
  const { verifyCard, requireVerified = verifyCard !== undefined } = options;
  if (requireVerified && !verifyCard) throw invalidField('requireVerified', 'needs verifyCard');
  const polling = { initialDelay: 50, maxDelay: 5_000, ...options.polling };
  // An agent must not be asked without a pause.
  for (const name of ['initialDelay', 'maxDelay'] as const)
    if (!(polling[name] >= 1)) throw invalidField(`polling.${name}`, 'must be 1 or more');
  return {
    auth: options.auth,
    cardAuth: options.cardAuth,
    headers: lowerCase(options.headers ?? {}),
    cardHeaders: lowerCase(options.cardHeaders ?? {}),
    cardPath: options.cardPath,
    endpoint: options.endpoint,
    redirects: options.redirects ?? 'origin',
    transports: options.transports,
    versions: options.versions,
    tenant: options.tenant,
    gate: new DestinationPolicy(options.egress),
    timeouts,
    polling,
    limits: { body: bytes64M, frame: bytes64M, ...options.limits },
    retries: options.maxRetries ?? 3,
    resumes: options.maxResumes ?? 5,
    http: options.http ?? builtIn(options, timeouts),
    ownsHttp: options.http === undefined,
    memory: options.endpointCache ?? sharedEndpointCache,
    report: options.onWarning ?? (() => {}),
    onLoss: options.onLoss,
    verifyCard,
    requireVerified,
    tracing: new LazyTracing(options.tracing),
    clock: options.clock ?? systemClock,
    random: options.random ?? Math.random,
  };
}

function builtIn(options: ConnectOptions, timeouts: ClientTimeouts): HttpClient {
  if (options.fetch) return fetchHttpClient(options.fetch);
  return undiciHttpClient({
    connectTimeout: timeouts.connect,
    maxConnections: options.maxConnections ?? 256,
    tls: options.tls,
  });
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
