import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { connect, type ConnectionInfo, type RemoteAgent } from '../../client/connect.ts';
import type { ClientTls } from '../../client/connect-options.ts';
import type { HttpClient, HttpRequest } from '../../client/http/http-client.ts';
import { undiciHttpClient } from '../../client/http/undici-driver.ts';
import type { JsonWebKeySet, KeySources } from '../../signing/key-lookup.ts';
import type { CallContext } from '../../protocol/agent.ts';
import type { AgentCard, ProtocolVersion, Transport } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { type CardReference, parseCardReference } from './card-reference.ts';
import { DeclaredCredentials, unusedCredentials, type UserCredentials, listSchemes } from './credentials.ts';
import { resolveConfiguration, type ClientConfiguration } from './configuration.ts';
import { ClientError, reportClientError } from './client-error.ts';
import type { ClientFlags } from './flags.ts';
import { ClientOutput } from './output.ts';
import { listGatewayAgents } from './list-gateway-agents.ts';
import { sanitizeForTerminal } from '../terminal/sanitize.ts';
import { Redactor } from '../../primitives/redaction.ts';
import { refreshStoredToken } from './token-request.ts';
import { withHttpDebugLog } from './http-debug-log.ts';

/** A conversation of one command with one agent. */
export interface ClientSession {
  readonly flags: ClientFlags;
  readonly out: ClientOutput;
  readonly agent: RemoteAgent;
  readonly card: AgentCard;
  /** The card as it came. */
  readonly wireCard: object;
  readonly description: ConnectionInfo;
  /** For each call: it ends when the time is up. */
  readonly call: CallContext;
  /** The name under which tokens of this agent are kept. */
  readonly agentKey: string;
  /** Somebody talks, turn by turn, and sees what happens. */
  readonly isTalk: boolean;
  /** The task that is spoken of, once there is one. */
  taskId: string | undefined;
  /** A command to paste, for this agent. */
  command(words: string): string;
}

/** Says something to a person, beside what was asked for. */
export function printWarning(text: string): void {
  process.stderr.write(`Warning: ${sanitizeForTerminal(text, 'line')}\n`);
}

/** Fills in the settings of a command and does its work; whatever goes wrong becomes an exit code. */
export async function runClientCommand(
  command: Command,
  work: (configuration: ClientConfiguration) => Promise<void>,
): Promise<void> {
  // Whoever reads may have read enough.
  process.stdout.on('error', () => process.exit(0));
  try {
    const configuration = resolveConfiguration(command);
    for (const warning of configuration.warnings) printWarning(warning);
    await work(configuration);
  } catch (thrown) {
    reportClientError(thrown, formOf(command.opts<ClientFlags>()));
  }
}

/** Finds the agent, does some work with it, and lets go of it. */
export function withAgent(
  command: Command,
  work: (session: ClientSession) => Promise<void>,
  { isTalk = false }: { isTalk?: boolean } = {},
): Promise<void> {
  return runClientCommand(command, async ({ flags }) => {
    const opening = new Opening(flags, { isTalk, words: wordsOf(command) });
    try {
      await work(await opening.session());
    } catch (thrown) {
      reportClientError(opening.explained(thrown), formOf(flags), opening.failureContext());
    } finally {
      await opening.close();
    }
  });
}

function formOf({ output, stream }: ClientFlags): 'no' | 'document' | 'line' {
  if (output !== 'json') return 'no';
  return stream ? 'line' : 'document';
}

class Opening {
  readonly #flags: ClientFlags;
  readonly #secrets = new Redactor();
  readonly #ending = new AbortController();
  readonly #proofs: UserCredentials;
  readonly #credentials: DeclaredCredentials;
  readonly #http: HttpClient;
  #timer: NodeJS.Timeout | undefined;
  #agent: RemoteAgent | undefined;
  #session: ClientSession | undefined;
  #isLate = false;
  /** What came in place of a card. */
  #oddCard: string | undefined;

  readonly #isTalk: boolean;
  /** What was typed to get here, such as `dragoman task get`. */
  readonly #words: string;

  constructor(flags: ClientFlags, { isTalk, words }: { isTalk: boolean; words: string }) {
    this.#flags = flags;
    this.#isTalk = isTalk;
    this.#words = words;
    const { bearer, apiKey } = flags;
    this.#proofs = { bearer, apiKey };
    this.#credentials = new DeclaredCredentials(() => this.#proofs);
    this.#secrets.addSecret(bearer);
    this.#secrets.addSecret(apiKey);
    const http = undiciHttpClient({ connectTimeout: 10_000, maxConnections: 16, tls: tlsOf(flags) });
    const logged = flags.debug ? withHttpDebugLog(http, this.#secrets, (line) => this.#debug(line)) : http;
    this.#http = {
      close: () => logged.close(),
      request: async (request: HttpRequest) => {
        const response = await logged.request(request);
        const isCardPlace =
          this.#session === undefined && request.method === 'GET' && request.path.endsWith('.json');
        if (isCardPlace && response.status === 200) this.#oddCard = request.origin + request.path;
        return response;
      },
    };
    // A person may think for as long as they like.
    if (flags.timeout > 0 && !isTalk)
      this.#timer = setTimeout(() => {
        this.#isLate = true;
        this.#ending.abort(new Error('the time is up'));
      }, flags.timeout);
  }

  async session(): Promise<ClientSession> {
    const flags = this.#flags;
    if (flags.agentCard === undefined)
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        'there is no agent to speak to',
        'Name one with --agent-card, as in -a http://localhost:4000, or with A2ACLI_AGENT_CARD.',
      );
    if (flags.insecure) this.#warnInsecure();
    const reference = parseCardReference(flags.agentCard);
    const cards: object[] = [];
    const agent = this.#connect(reference, cards);
    this.#agent = agent;
    const call: CallContext = { signal: this.#ending.signal, extensions: flags.extension };
    const description = await this.#found(agent, call, reference);
    const [wireCard] = cards;
    if (wireCard === undefined) throw await this.#noCard(reference);
    const card = await agent.card(call);
    const agentKey =
      description.cardUrl ?? ('file' in reference ? `file:${reference.file}` : reference.url.href);
    await this.#takeToken(agentKey);
    this.#tell(card, description);
    const name = flags.agentCard;
    this.#session = {
      flags,
      out: new ClientOutput(flags),
      agent,
      card,
      wireCard,
      description,
      call,
      agentKey,
      isTalk: this.#isTalk,
      taskId: undefined,
      command: (words) => `dragoman ${words} -a ${quoteShellWord(name)}`,
    };
    return this.#session;
  }

  #connect(reference: CardReference, cards: object[]): RemoteAgent {
    const { a2aVersion, transport, svcParam, cardKeys } = this.#flags;
    const spoken = transport.filter((each): each is Transport => each !== 'GRPC');
    if (spoken.length < transport.length)
      printWarning('gRPC is not spoken here and is left out of --transport');
    const headers: Record<string, string> = {};
    for (const each of svcParam) {
      const at = each.indexOf(':');
      const name = each.slice(0, at).toLowerCase();
      headers[name] = each.slice(at + 1).trim();
      this.#secrets.addSecretHeader(name);
      this.#secrets.addSecret(headers[name]);
    }
    if (a2aVersion !== undefined) headers['a2a-version'] ??= a2aVersion;
    const { timeout } = this.#flags;
    return connect('url' in reference ? reference.url : reference.card, {
      http: this.#http,
      auth: this.#credentials,
      headers,
      versions: [(a2aVersion ?? '1.0') as ProtocolVersion],
      // What the card offers beside the favourites comes after them.
      ...(spoken.length > 0 && { transports: [...new Set<Transport>([...spoken, 'JSONRPC', 'HTTP+JSON'])] }),
      timeouts: { send: timeout > 0 ? timeout : 2_000_000_000 },
      requireVerified: false,
      verifyCard: async (wire, { url, fetchKey }) => {
        cards[0] ??= wire;
        if (!('signatures' in wire)) return { result: 'absent', reason: 'the card is not signed' };
        const { verifyCard } = await import('../../signing/verify-card.ts');
        // Whoever serves the card may vouch for it with keys of the same place.
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
    });
  }

  async #found(agent: RemoteAgent, call: CallContext, reference: CardReference): Promise<ConnectionInfo> {
    try {
      return await agent.describe(call);
    } catch (thrown) {
      const error = A2AError.from(thrown);
      if (this.#isLate || error.reason === 'VERSION_NOT_SUPPORTED') throw error;
      if (error.reason === 'INVALID_AGENT_RESPONSE' || error.reason === 'INVALID_PARAMS')
        throw new ClientError('A2ACLI_ERR_CARD_INVALID', error.message, withValidate(reference));
      if (error.reason === 'PERMISSION_DENIED' && error.details.result === 'invalid')
        throw new ClientError(
          'A2ACLI_ERR_CARD_INVALID',
          error.message,
          'Somebody changed the card after it was signed.',
        );
      throw error;
    }
  }

  async #noCard(reference: CardReference): Promise<ClientError> {
    const where = 'url' in reference ? reference.url.href : reference.file;
    if (this.#oddCard !== undefined)
      return new ClientError(
        'A2ACLI_ERR_CARD_INVALID',
        `what is at ${this.#oddCard} is no agent card`,
        undefined,
      );
    const atRoot = 'url' in reference && reference.url.pathname === '/' ? reference.url.origin : undefined;
    const agents =
      atRoot === undefined ? [] : await listGatewayAgents(this.#http, atRoot, this.#ending.signal);
    return new ClientError(
      'A2ACLI_ERR_CARD_NOT_FOUND',
      `there is no agent card at ${where}${agents.length === 0 ? '' : `, but a gateway to ${listed(agents)}`}`,
      agents.length === 0
        ? 'Give the URL of the card itself, or of the agent it belongs to.'
        : `Name one of its agents: ${this.#words} -a ${atRoot}/agents/${agents[0]} …`,
    );
  }

  async #takeToken(agentKey: string): Promise<void> {
    if (this.#proofs.bearer !== undefined) return;
    const stored = await refreshStoredToken(agentKey).catch((thrown: unknown) => {
      // Without it the agent may still answer; if it does not, it says what it wants.
      printWarning(`the token of auth login cannot be used: ${A2AError.from(thrown).message}`);
      return undefined;
    });
    if (!stored) return;
    this.#secrets.addSecret(stored.accessToken);
    this.#secrets.addSecret(stored.refreshToken);
    this.#proofs.stored = stored;
  }

  #tell(card: AgentCard, { url, version, transport }: ConnectionInfo): void {
    this.#debug(`${card.name}: A2A ${version} over ${transport} at ${url}`);
    for (const warning of unusedCredentials(card, this.#proofs)) printWarning(warning);
    const declared = new Set(this.#flags.extension);
    for (const { uri, required } of card.capabilities.extensions ?? [])
      if (required && !declared.has(uri))
        printWarning(
          `the agent requires the extension ${uri}: declare it with --extension if you can live with it`,
        );
  }

  #warnInsecure(): void {
    const { bearer, apiKey } = this.#flags;
    printWarning('certificates are not checked (--insecure)');
    if (bearer !== undefined || apiKey !== undefined)
      printWarning(
        'A CREDENTIAL IS SENT OVER A CONNECTION WHOSE CERTIFICATE NOBODY CHECKED: whoever answers can take it',
      );
  }

  #debug(line: string): void {
    if (this.#flags.debug)
      process.stderr.write(`debug: ${sanitizeForTerminal(this.#secrets.redactText(line), 'line')}\n`);
  }

  /** A call that was cut short by the clock says so. */
  explained(thrown: unknown): unknown {
    if (!this.#isLate) return thrown;
    const taskId = this.#session?.taskId;
    const command = this.#session?.command(`task get ${taskId} --wait`);
    return new ClientError(
      'A2ACLI_ERR_TIMEOUT',
      `the time (--timeout) is up${taskId === undefined ? '' : `; the task ${taskId} goes on`}`,
      taskId === undefined ? 'Raise --timeout.' : `Go on waiting: ${command}`,
    );
  }

  failureContext() {
    const [name, scheme] = listSchemes(this.#session?.card)[0] ?? [];
    return {
      hasCredentials: this.#credentials.wereSent,
      hasIdentifiers: this.#flags.taskId !== undefined || this.#flags.contextId !== undefined,
      redact: (text: string) => this.#secrets.redactText(text),
      login: loginFor(name, scheme?.type, this.#session),
    };
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#agent?.close();
    await this.#http.close();
  }
}

function wordsOf(command: Command): string {
  return command.parent ? `${wordsOf(command.parent)} ${command.name()}` : command.name();
}

function listed(agents: readonly string[]): string {
  const shown = agents.slice(0, 10).join(', ');
  return agents.length > 10 ? `${shown} and ${agents.length - 10} more` : shown;
}

function withValidate(reference: CardReference): string {
  const name = 'url' in reference ? reference.url.href : reference.file;
  return `See what is wrong: dragoman conformance ${quoteShellWord(name)}`;
}

function loginFor(
  name: string | undefined,
  type: string | undefined,
  session: ClientSession | undefined,
): string {
  if (type === 'oauth2' || type === 'openIdConnect')
    return session?.command('auth login') ?? 'dragoman auth login';
  if (type === 'apiKey') return `set A2ACLI_API_KEY to the key of the scheme ${name}`;
  if (type === 'mutualTLS') return 'give --client-cert and --client-key';
  return 'set A2ACLI_BEARER to a token';
}

function tlsOf({ insecure, ca, clientCert, clientKey }: ClientFlags): ClientTls {
  return {
    verify: !insecure,
    ...(ca !== undefined && { ca: readText(ca) }),
    ...(clientCert !== undefined && { cert: readText(clientCert) }),
    ...(clientKey !== undefined && { key: readText(clientKey) }),
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new ClientError('A2ACLI_ERR_USAGE', `${file} cannot be read`, 'Give the path of a file.', cause);
  }
}

/** A word as a shell takes it. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
