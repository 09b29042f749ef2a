import { lookup } from 'node:dns/promises';
import { isLoopbackUrl } from '../checks/push/loopback.ts';
import { requestCard, findCards, cardLocations } from '../discovery/find-cards.ts';
import { cardVariants, createDriver, type PublishedCard } from '../discovery/card-variants.ts';
import { grpcOrigin } from '../discovery/grpc-address.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import type { CheckedTransport } from '../rule-model.ts';
import { authStatus } from '../wire/http-exchange.ts';
import { checkGrpc } from './check-grpc.ts';
import { checkTls } from './check-tls.ts';
import { type InteropPeer, openPeer } from '../interop/interop-peer.ts';
import { describeError, describeResponse } from '../drivers/describe-response.ts';
import type { Probe } from '../probe.ts';
import { isJsonObject, type JsonObject } from '../../primitives/json.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { WebhookReceiver } from '../wire/webhook-receiver.ts';

/** Result of one step of {@link diagnose}. */
export interface DiagnosisStep {
  readonly name: 'DNS' | 'TLS' | 'card' | 'version' | 'gRPC' | 'auth' | 'message' | 'stream';
  readonly state: 'ok' | 'error' | 'skipped';
  /** What was observed. */
  readonly finding: string;
  /** How to fix an error. */
  readonly fix?: string;
}

/** Options of {@link diagnose}. All options are optional. */
export interface DoctorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for one step. @defaultValue 15,000 */
  readonly timeout?: number;
  /** Accepts invalid TLS certificates. @defaultValue false */
  readonly insecure?: boolean;
  /** Transport of the calls. @defaultValue the preferred one of the card */
  readonly transport?: CheckedTransport;
  /** Address of gRPC, `host:port` or a URL, in place of that of the card; implies the transport `GRPC`. */
  readonly grpcAddress?: string;
  /** Text of the test message. @defaultValue the first example of the card */
  readonly text?: string;
}

type Finding = Omit<DiagnosisStep, 'name'>;

const isGrpc = ({ transport }: ProtocolDriver): boolean => transport === 'GRPC';

/** Performs the steps of a client one after the other, and stops at the first error that prevents the next step. */
export async function diagnose(url: string, options: DoctorOptions = {}): Promise<DiagnosisStep[]> {
  return new Diagnosis(url, options).run();
}

class Diagnosis {
  readonly #url: string;
  readonly #options: DoctorOptions;
  readonly #timeout: number;
  readonly #http: RawHttpClient;
  readonly #receiver = new WebhookReceiver();
  readonly #steps: DiagnosisStep[] = [];
  readonly #transport: CheckedTransport | undefined;

  constructor(url: string, options: DoctorOptions) {
    this.#url = url;
    this.#options = options;
    this.#timeout = options.timeout ?? 15_000;
    this.#transport = options.grpcAddress === undefined ? options.transport : 'GRPC';
    this.#http = new RawHttpClient({ deadline: this.#timeout, insecure: options.insecure ?? false });
  }

  async run(): Promise<DiagnosisStep[]> {
    const isReachable =
      (await this.#step('DNS', () => resolveHost(this.#url))) &&
      (await this.#step('TLS', () =>
        performTlsCheck(this.#url, this.#timeout, this.#options.insecure ?? false),
      )) &&
      (await this.#step('card', () => this.#findCard())) &&
      (await this.#step('version', () => this.#checkVariants()));
    if (isReachable) await this.#callAgent();
    this.#http.close();
    this.#receiver.close();
    return this.#steps;
  }

  async #step(name: DiagnosisStep['name'], work: () => Promise<Finding>): Promise<boolean> {
    const finding = await work();
    this.#steps.push({ name, ...finding });
    return finding.state !== 'error';
  }

  async #findCard(): Promise<Finding> {
    const { headers = {} } = this.#options;
    const [location = this.#url, oldLocation] = cardLocations(this.#url);
    const exchange = await requestCard(this.#http, location, '1.0', headers);
    const { status, body, transportError } = exchange;
    if (status === 0)
      return failed(
        `no response from ${location}: ${transportError ?? exchange.end}`,
        'Start the agent, and check the port, the firewall and the proxy.',
      );
    const cards = await findCards(this.#http, this.#url, headers);
    const [published] = cards;
    if (published?.url === oldLocation && oldLocation !== undefined)
      return ok(`found at the pre-1.0 URL ${oldLocation}; clients of 1.0 request ${location}`);
    if (published)
      return ok(`${published.url}, HTTP 200, ${JSON.stringify(published.card.name ?? 'no name')}`);
    if (status === 401 || status === 403)
      return failed(
        `HTTP ${status} for the card`,
        'Serve the card without authentication; protect only the other endpoints.',
      );
    if (status === 200)
      return failed(
        `${location} is not a JSON object: ${JSON.stringify(body.slice(0, 60))}`,
        'Serve the card as application/json. An HTML page comes from a proxy or a web application.',
      );
    return failed(
      `HTTP ${status} at ${location}`,
      'Serve the card there, or pass the base URL of the agent.',
    );
  }

  async #checkVariants(): Promise<Finding> {
    const cards = await findCards(this.#http, this.#url, this.#options.headers ?? {});
    const variants = cards.flatMap((each) => cardVariants(each));
    if (variants.length === 0)
      return failed(
        'the card declares no JSON-RPC, REST or gRPC interface',
        'Declare interfaces in supportedInterfaces (1.0), or in url and preferredTransport (0.3).',
      );
    const transport = this.#transport;
    const isDeclared = variants.some((each) => each.transport === transport);
    if (transport !== undefined && !isDeclared && this.#options.grpcAddress === undefined)
      return failed(
        `the card declares no ${transport} interface`,
        transport === 'GRPC'
          ? 'Declare it in the card, or pass the address of gRPC with --grpc host:port.'
          : 'Declare it in the card, or choose another transport.',
      );
    const unreachable = variants.find(({ url }) => isLoopbackUrl(url) && !isLoopbackUrl(this.#url));
    if (unreachable)
      return failed(
        `the card contains the loopback address ${unreachable.url}`,
        'Set the public URL of the agent in the card.',
      );
    const names = new Set(variants.map(({ version, transport }) => `${version} ${transport}`));
    return ok(`${[...names].join(', ')} at ${[...new Set(variants.map(({ url }) => url))].join(', ')}`);
  }

  async #callAgent(): Promise<void> {
    const { headers = {} } = this.#options;
    const { probe, published, variants } = await this.#openPeer();
    if (!probe || !published) return;
    if (isGrpc(probe.driver) && !(await this.#step('gRPC', () => this.#checkGrpc(probe)))) return;
    const isAccepted = await this.#step('auth', () => checkAuth(probe, published, headers));
    if (isAccepted) {
      await this.#step('message', () => checkMessage(probe, this.#timeout));
      await this.#step('stream', () => checkStream(probe));
    }
    // Clients may choose another interface of the card.
    const other = isGrpc(probe.driver) ? undefined : variants.find(isGrpc);
    if (other) await this.#step('gRPC', () => this.#checkGrpc(probe.withDriver(other)));
  }

  async #openPeer(): Promise<InteropPeer> {
    const { headers = {}, text, grpcAddress } = this.#options;
    const context = { http: this.#http, receiver: this.#receiver, deadline: this.#timeout };
    const prompts = text === undefined ? {} : { completed: { text } };
    const open = (transports?: readonly CheckedTransport[]): Promise<InteropPeer> =>
      openPeer(this.#url, context, { headers, prompts, ...(transports ? { transports } : {}) });
    if (grpcAddress === undefined) return open(this.#transport && [this.#transport]);
    const declared = await open(['GRPC']);
    const peer = declared.probe ? declared : await open();
    const { probe } = peer;
    const origin = grpcOrigin(grpcAddress, this.#url);
    if (!probe || origin === undefined) return peer;
    return { ...peer, probe: probe.withDriver(createDriver(probe.driver.version, 'GRPC', origin)) };
  }

  #checkGrpc(probe: Probe): Promise<Finding> {
    return checkGrpc(probe, {
      timeout: this.#timeout,
      insecure: this.#options.insecure ?? false,
      cardOrigin: new URL(this.#url).origin,
    });
  }
}

function ok(finding: string): Finding {
  return { state: 'ok', finding };
}

function failed(finding: string, fix: string): Finding {
  return { state: 'error', finding, fix };
}

async function resolveHost(url: string): Promise<Finding> {
  let host: string;
  try {
    host = new URL(url).hostname.replaceAll(/^\[|\]$/g, '');
  } catch {
    return failed(`invalid URL: ${url}`, 'Use an absolute URL with http:// or https://.');
  }
  try {
    const addresses = await lookup(host, { all: true });
    return ok(`${host} is ${addresses.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const { code = 'no response' } = error as NodeJS.ErrnoException;
    return code === 'EAI_AGAIN'
      ? failed(`DNS server does not respond for ${host} (${code})`, 'Check the network and the DNS server.')
      : failed(
          `unknown host ${host} (${code})`,
          'Check the spelling, the DNS entry, and whether a VPN is required.',
        );
  }
}

async function performTlsCheck(url: string, timeout: number, insecure: boolean): Promise<Finding> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:')
    return {
      state: 'skipped',
      finding: 'plain http; use https if the agent is reachable from other machines',
    };
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  return checkTls({ host, port: Number(port || 443), timeout, insecure });
}

async function checkAuth(
  probe: Probe,
  { card }: PublishedCard,
  headers: Readonly<Record<string, string>>,
): Promise<Finding> {
  const response = await probe.call('get', { id: crypto.randomUUID() });
  const { status } = response.exchange;
  const rejection = authStatus(response.exchange);
  const schemes = isJsonObject(card.securitySchemes) ? Object.keys(card.securitySchemes) : [];
  const required =
    schemes.length > 0 ? `the card declares ${schemes.join(' or ')}` : 'the card declares no scheme';
  if (status === 0)
    return failed(
      `no response from ${probe.driver.url}: ${response.exchange.transportError ?? response.exchange.end}`,
      'Correct the URL in the card; it cannot be reached from here.',
    );
  if (rejection === undefined)
    return ok(
      Object.keys(headers).length > 0
        ? `accepted with the given credentials; ${required}`
        : `accepted; ${required}`,
    );
  const rejected = response.error?.grpcStatus ?? `HTTP ${status}`;
  return Object.keys(headers).length > 0
    ? failed(
        `${rejected} with the given credentials; ${required}`,
        'Get a new token, and check its audience and scopes.',
      )
    : failed(`${rejected}; ${required}`, "Pass credentials: --header 'Authorization: Bearer …'.");
}

async function checkMessage(probe: Probe, timeout: number): Promise<Finding> {
  const draft = probe.prompts.anyPrompt();
  const startedAt = performance.now();
  const response = await probe.call('send', { message: draft });
  const duration = `${Math.round(performance.now() - startedAt)} ms`;
  const text = JSON.stringify(draft.text ?? '');
  if (response.error || response.decodeError !== undefined) {
    const { end, headers, status } = response.exchange;
    if (end === 'timeout')
      return failed(
        `${text} got no response within ${timeout} ms`,
        'Return a task immediately and work in the background, or raise --timeout.',
      );
    const isPage = headers['content-type']?.includes('html') ?? false;
    return failed(
      isPage ? `${text} got an HTML page, HTTP ${status}` : `${text} failed: ${describeResponse(response)}`,
      isPage
        ? 'Correct the URL in the card or the proxy; it leads to a web server, not to the agent.'
        : 'Check the log of the agent; run `dragoman conformance` to find the violated rule.',
    );
  }
  const task = probe.driver.decodeTask(response.result);
  if (task) return ok(`${text} created a task, "${task.state}" after ${duration}`);
  if (probe.driver.decodeMessage(response.result))
    return ok(`${text} got a direct message after ${duration}`);
  return failed(
    `${text} got neither a task nor a direct message: ${describeResponse(response)}`,
    `Respond in the format of ${probe.driver.version}, the version that the card declares.`,
  );
}

async function checkStream(probe: Probe): Promise<Finding> {
  const capabilities: JsonObject = probe.capabilities;
  if (capabilities.streaming !== true)
    return { state: 'skipped', finding: 'the card does not declare streaming' };
  const { exchange, events, error, isStream, isComplete } = await probe.openStream('stream', {
    message: probe.prompts.anyPrompt(),
  });
  const type = exchange.headers['content-type'] ?? 'no content type';
  if (!isStream && error?.grpcStatus !== undefined)
    return failed(`the stream failed: ${describeError(error)}`, 'Check the log of the agent.');
  if (!isStream)
    return failed(
      `HTTP ${exchange.status} with ${type} instead of a stream`,
      'Respond with text/event-stream, or set capabilities.streaming to false.',
    );
  const first = exchange.frames[0];
  if (!first || events.length === 0)
    return failed(
      'the stream opened without events',
      'Flush after every event; disable buffering in the proxy.',
    );
  const summary = `${events.length} events, the first after ${Math.round(first.at)} ms`;
  return isComplete
    ? ok(`${summary}, closed after ${Math.round(exchange.totalMs)} ms`)
    : failed(`${summary}, not closed (${exchange.end})`, 'Close the stream when the task ends.');
}
