import type { Command } from 'commander';
import { connect, type ConnectionInfo, type RemoteAgent } from '../../client/connect.ts';
import { type CatalogListing, fetchCatalog } from '../../client/catalog.ts';
import type { ClientTls, ConnectOptions } from '../../client/connect-options.ts';
import type { HttpClient, HttpRequest } from '../../client/http/http-client.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import type { JsonWebKeySet } from '../../primitives/web/jwks.ts';
import type { KeySources } from '../../signing/key-lookup.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type { AgentCard, Transport } from '../../protocol/card.ts';
import { catalogPath } from '../../protocol/catalog/ai-catalog.ts';
import { A2AError } from '../../protocol/errors.ts';
import { SeveralAgentsError } from '../../client/discovery/find-in-catalog.ts';
import { type CardReference, parseCardReference } from './card-reference.ts';
import { DeclaredCredentials, unusedCredentials, type UserCredentials, listSchemes } from './credentials.ts';
import { resolveConfiguration, type ClientConfiguration } from './configuration.ts';
import { ClientError, reportClientError } from './client-error.ts';
import { cardNotFound, conformanceHint, severalAgents } from './missing-card.ts';
import type { ClientFlags } from './flags.ts';
import { ClientOutput } from './output.ts';
import { printWarning } from '../terminal/print-error.ts';
import { quoteShellWord } from '../terminal/quote-shell-word.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import { allowedVersions, anyVersion, olderVersionError } from './requested-version.ts';
import { repeatedFlags } from './repeated-flags.ts';
import { programName } from '../terminal/program-name.ts';
import { refreshStoredToken } from './token-request.ts';
import { withHttpDebugLog } from './http-debug-log.ts';
import { readInputFile } from '../inputs/read-input-file.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** Connection of one client command to one agent. */
export interface ClientSession {
  readonly flags: ClientFlags;
  readonly out: ClientOutput;
  readonly agent: RemoteAgent;
  readonly card: AgentCard;
  /** The card as received. */
  readonly wireCard: object;
  readonly description: ConnectionInfo;
  /** Context of each call; aborted after `--timeout`. */
  readonly call: CallContext;
  /** Key of the agent in the token store. */
  readonly agentKey: string;
  /** True for `chat`: no time limit and no progress messages. */
  readonly isInteractive: boolean;
  /** ID of the current task, for hints. */
  taskId: string | undefined;
  /** Returns a command line for this agent, such as `dragoman task get … -a …`. @param text - for the end of it */
  command(words: string, text?: string): string;
}

/** Resolves the settings of a client command and runs it. Errors are printed and become the exit code. */
export async function runClientCommand(
  command: Command,
  work: (configuration: ClientConfiguration) => Promise<void>,
): Promise<void> {
  // `| head` closes the pipe early.
  process.stdout.on('error', () => process.exit(0));
  try {
    const configuration = resolveConfiguration(command);
    for (const warning of configuration.warnings) printWarning(warning);
    await work(configuration);
  } catch (thrown) {
    reportClientError(thrown, jsonLayout(command.opts<ClientFlags>()));
  }
}

/** Connects to the agent, runs the work of a client command and closes the connection. */
export function withAgent(
  command: Command,
  work: (session: ClientSession) => Promise<void>,
  options: ConnectionMode = {},
): Promise<void> {
  return withConnection(command, async (connection) => work(await connection.open()), options);
}

/** Fetches the catalog of the host and runs the work of a client command. */
export function withCatalog(
  command: Command,
  work: (catalog: CatalogListing, out: ClientOutput, flags: ClientFlags) => void,
): Promise<void> {
  return withConnection(command, async (connection, flags) =>
    work(await connection.fetchCatalog(), new ClientOutput(flags), flags),
  );
}

interface ConnectionMode {
  isInteractive?: boolean;
  onlyCard?: boolean;
}

function withConnection(
  command: Command,
  work: (connection: AgentConnection, flags: ClientFlags) => Promise<void>,
  { isInteractive = false, onlyCard = false }: ConnectionMode = {},
): Promise<void> {
  return runClientCommand(command, async (configuration) => {
    // Any version is good enough to show a card.
    const flags = onlyCard ? { ...configuration.flags, a2aVersion: anyVersion } : configuration.flags;
    const connection = new AgentConnection(flags, {
      isInteractive,
      commandPath: formatCommandPath(command),
      repeatedFlags: repeatedFlags(command),
    });
    try {
      await work(connection, flags);
    } catch (thrown) {
      reportClientError(connection.toTimeoutError(thrown), jsonLayout(flags), connection.errorContext());
    } finally {
      await connection.close();
    }
  });
}

function jsonLayout({ output, stream }: ClientFlags): 'no' | 'document' | 'line' {
  if (output !== 'json') return 'no';
  return stream ? 'line' : 'document';
}

class AgentConnection {
  readonly #flags: ClientFlags;
  readonly #redactor = new Redactor();
  readonly #abort = new AbortController();
  readonly #userCredentials: UserCredentials;
  readonly #credentials: DeclaredCredentials;
  readonly #http: HttpClient;
  #timer: NodeJS.Timeout | undefined;
  #agent: RemoteAgent | undefined;
  #session: ClientSession | undefined;
  #hasTimedOut = false;
  /** URL of a 200 response in place of the card. */
  #lastJsonUrl: string | undefined;

  readonly #isInteractive: boolean;
  /** For example `dragoman task get`. */
  readonly #commandPath: string;
  readonly #repeatedFlags: string;

  constructor(
    flags: ClientFlags,
    caller: { isInteractive: boolean; commandPath: string; repeatedFlags: string },
  ) {
    this.#flags = flags;
    this.#isInteractive = caller.isInteractive;
    this.#commandPath = caller.commandPath;
    this.#repeatedFlags = caller.repeatedFlags;
    const { bearer, apiKey } = flags;
    this.#userCredentials = { bearer, apiKey };
    this.#credentials = new DeclaredCredentials(() => this.#userCredentials);
    this.#redactor.addSecret(bearer);
    this.#redactor.addSecret(apiKey);
    const http = undiciHttpClient({ connectTimeout: 10_000, maxConnections: 16, tls: readTlsFiles(flags) });
    const logged = flags.debug ? withHttpDebugLog(http, this.#redactor, (line) => this.#debug(line)) : http;
    this.#http = {
      close: () => logged.close(),
      supportsHttp2: () => logged.supportsHttp2?.() ?? false,
      request: async (request: HttpRequest) => {
        const response = await logged.request(request);
        const { method, path, origin } = request;
        const isCardPath = path.endsWith('.json') && !path.endsWith(catalogPath);
        if (this.#session === undefined && method === 'GET' && isCardPath && response.status === 200)
          this.#lastJsonUrl = origin + path;
        return response;
      },
    };
    if (flags.timeout > 0 && !this.#isInteractive)
      this.#timer = setTimeout(() => {
        this.#hasTimedOut = true;
        this.#abort.abort(new Error('timed out'));
      }, flags.timeout);
  }

  async open(): Promise<ClientSession> {
    const flags = this.#flags;
    const agentCard = this.#reference();
    const reference = parseCardReference(agentCard);
    const cards: object[] = [];
    const agent = this.#connect(reference, cards);
    this.#agent = agent;
    const call: CallContext = { signal: this.#abort.signal, extensions: flags.extension };
    const description = await this.#discover(agent, call, reference).catch((thrown: unknown) => {
      throw (cards[0] && olderVersionError(cards[0], flags.a2aVersion)) ?? thrown;
    });
    const [wireCard] = cards;
    if (wireCard === undefined) throw cardNotFound(reference, this.#lastJsonUrl);
    const versionError = olderVersionError(wireCard, flags.a2aVersion);
    if (versionError) throw versionError;
    const card = await agent.card(call);
    const agentKey =
      description.cardUrl ?? ('file' in reference ? `file:${reference.file}` : reference.url.href);
    await this.#loadToken(agentKey);
    this.#printWarnings(card, description);
    this.#session = {
      flags,
      out: new ClientOutput(flags),
      agent,
      card,
      wireCard,
      description,
      call,
      agentKey,
      isInteractive: this.#isInteractive,
      taskId: undefined,
      command: (words, text = '') =>
        `${programName()} ${words} -a ${quoteShellWord(agentCard)}${this.#repeatedFlags}${text}`,
    };
    return this.#session;
  }

  async fetchCatalog(): Promise<CatalogListing> {
    const reference = parseCardReference(this.#reference());
    if (!('url' in reference))
      throw new UsageError('Not the URL of a catalog', 'Pass a host, or the URL of its catalog.');
    try {
      return await fetchCatalog(reference.url, { ...this.#connectOptions([]), signal: this.#abort.signal });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error.reason !== 'NOT_FOUND') throw error;
      const hint = `To show the card of one agent, run ${programName()} card get -a ${quoteShellWord(reference.url.href)}.`;
      throw new ClientError('A2ACLI_ERR_CARD_NOT_FOUND', error.message, hint);
    }
  }

  /** Returns the agent or host that the user named. */
  #reference(): string {
    const { agentCard, insecure } = this.#flags;
    const hint = 'Pass an agent with --agent-card, as in -a http://localhost:4000, or set A2ACLI_AGENT_CARD.';
    if (agentCard === undefined) throw new UsageError('Missing agent', hint);
    if (insecure) this.#warnInsecure();
    return agentCard;
  }

  #connect(reference: CardReference, cards: object[]): RemoteAgent {
    return connect('url' in reference ? reference.url : reference.card, this.#connectOptions(cards));
  }

  /** @param cards - receives the card */
  #connectOptions(cards: object[]): ConnectOptions {
    const { a2aVersion, transport, svcParam, cardKeys, credentialOrigin } = this.#flags;
    const headers: Record<string, string> = {};
    for (const each of svcParam) {
      const at = each.indexOf(':');
      const name = each.slice(0, at).toLowerCase();
      headers[name] = each.slice(at + 1).trim();
      this.#redactor.addSecretHeader(name);
      this.#redactor.addSecret(headers[name]);
    }
    if (a2aVersion !== undefined && a2aVersion !== anyVersion) headers['a2a-version'] ??= a2aVersion;
    const { timeout } = this.#flags;
    return {
      http: this.#http,
      auth: this.#credentials,
      credentialOrigins: credentialOrigin,
      headers,
      versions: allowedVersions(a2aVersion),
      // Other transports of the card remain available as a fallback.
      ...(transport.length > 0 && {
        transports: [...new Set<Transport>([...transport, 'JSONRPC', 'HTTP+JSON', 'GRPC'])],
      }),
      timeouts: { send: timeout > 0 ? timeout : 2_000_000_000 },
      requireVerified: false,
      verifyCard: async (wire, { url, fetchKey }) => {
        cards[0] ??= wire;
        if (!('signatures' in wire)) return { result: 'absent', reason: 'the card is not signed' };
        const { verifyCard } = await import('../../signing/verify-card.ts');
        // Keys from the origin of the card are accepted.
        const allowedJku = url === undefined ? [] : [new URL(url).origin];
        const jwks = cardKeys === undefined ? undefined : (JSON.parse(readText(cardKeys)) as JsonWebKeySet);
        return verifyCard(wire, {
          fetchKey: fetchKey as KeySources['fetchKey'],
          allowedJku,
          jwks,
          acceptSdkForms: true,
        });
      },
      onWarning: ({ kind, message }) => {
        if (kind !== 'unverified' && kind !== 'poll') this.#debug(message);
      },
    };
  }

  async #discover(agent: RemoteAgent, call: CallContext, reference: CardReference): Promise<ConnectionInfo> {
    try {
      return await agent.describe(call);
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (error instanceof SeveralAgentsError) throw severalAgents(error, this.#commandPath);
      if (this.#hasTimedOut || error.reason === 'VERSION_NOT_SUPPORTED') throw error;
      if (error.reason === 'INVALID_AGENT_RESPONSE' || error.reason === 'INVALID_PARAMS')
        throw new ClientError('A2ACLI_ERR_CARD_INVALID', error.message, conformanceHint(reference));
      if (error.reason === 'PERMISSION_DENIED' && error.details.result === 'invalid')
        throw new ClientError(
          'A2ACLI_ERR_CARD_INVALID',
          error.message,
          'The card was changed after it was signed; report it to the operator of the agent.',
        );
      throw error;
    }
  }

  async #loadToken(agentKey: string): Promise<void> {
    if (this.#userCredentials.bearer !== undefined) return;
    const stored = await refreshStoredToken(agentKey).catch((thrown: unknown) => {
      // The agent may not need the token; if it does, its response says so.
      printWarning(`Cannot use the token of auth login: ${A2AError.from(thrown).message}`);
      return undefined;
    });
    if (!stored) return;
    this.#redactor.addSecret(stored.accessToken);
    this.#redactor.addSecret(stored.refreshToken);
    this.#userCredentials.stored = stored;
  }

  #printWarnings(card: AgentCard, { url, version, transport }: ConnectionInfo): void {
    this.#debug(`${card.name}: A2A ${version} over ${transport} at ${url}`);
    for (const warning of unusedCredentials(card, this.#userCredentials)) printWarning(warning);
    const declared = new Set(this.#flags.extension);
    for (const { uri, required } of card.capabilities.extensions ?? [])
      if (required && !declared.has(uri))
        printWarning(
          `The agent requires the extension ${uri}; declare it with --extension if you support it`,
        );
  }

  #warnInsecure(): void {
    const { bearer, apiKey } = this.#flags;
    printWarning('TLS certificates are not verified (--insecure)');
    if (bearer !== undefined || apiKey !== undefined)
      printWarning('CREDENTIALS ARE SENT OVER AN UNVERIFIED CONNECTION: a man in the middle can read them');
  }

  #debug(line: string): void {
    if (this.#flags.debug)
      process.stderr.write(`debug: ${sanitizeForTerminal(this.#redactor.redactText(line), 'line')}\n`);
  }

  /** Replaces an error by a timeout error if the time limit has passed. */
  toTimeoutError(thrown: unknown): unknown {
    if (!this.#hasTimedOut) return thrown;
    const taskId = this.#session?.taskId;
    const command = this.#session?.command(`task get ${taskId} --wait`);
    return new ClientError(
      'A2ACLI_ERR_TIMEOUT',
      `--timeout has expired${taskId === undefined ? '' : `; task ${taskId} is still running`}`,
      taskId === undefined ? 'Raise --timeout.' : `Continue waiting: ${command}`,
    );
  }

  errorContext() {
    const [name, scheme] = listSchemes(this.#session?.card)[0] ?? [];
    return {
      hasCredentials: this.#credentials.wereSent,
      hasIdentifiers: this.#flags.taskId !== undefined || this.#flags.contextId !== undefined,
      redact: (text: string) => this.#redactor.redactText(text),
      login: loginHint(name, scheme?.type, this.#session),
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#agent?.close();
    await this.#http.close();
  }
}

function formatCommandPath(command: Command): string {
  return command.parent ? `${formatCommandPath(command.parent)} ${command.name()}` : command.name();
}

function loginHint(
  name: string | undefined,
  type: string | undefined,
  session: ClientSession | undefined,
): string {
  if (type === 'oauth2' || type === 'openIdConnect')
    return `run ${session?.command('auth login') ?? 'dragoman auth login'}`;
  if (type === 'apiKey') return `set A2ACLI_API_KEY to the key of the scheme ${name}`;
  if (type === 'mutualTLS') return 'pass --client-cert and --client-key';
  return 'set A2ACLI_BEARER to a token';
}

function readTlsFiles({ insecure, ca, clientCert, clientKey }: ClientFlags): ClientTls {
  const read = (file: string | undefined) => (file === undefined ? undefined : readText(file));
  return { verify: !insecure, ca: read(ca), cert: read(clientCert), key: read(clientKey) };
}

function readText(file: string): string {
  return readInputFile(file, 'Pass the path of a file.');
}
