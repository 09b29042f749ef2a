import { lookup } from 'node:dns/promises';
import { isLoopbackUrl } from '../checks/push/loopback.ts';
import { requestCard, findCards, cardLocations } from '../discovery/find-cards.ts';
import { cardVariants, type PublishedCard } from '../discovery/card-variants.ts';
import { checkTls } from './check-tls.ts';
import { openPeer } from '../interop/interop-peer.ts';
import { describeResponse, type Probe } from '../probe.ts';
import { isJsonObject, type JsonObject } from '../drivers/normalized-views.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { WebhookReceiver } from '../wire/webhook-receiver.ts';

/** One step on the way to an agent that works. */
export interface DiagnosisStep {
  readonly name: 'DNS' | 'TLS' | 'card' | 'version' | 'auth' | 'message' | 'stream';
  readonly state: 'ok' | 'trouble' | 'left-out';
  /** What was seen. */
  readonly finding: string;
  /** What to do about it, where something is wrong. */
  readonly fix?: string;
}

/** How an agent is looked at. */
export interface DoctorOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds for one step. @defaultValue 15,000 */
  readonly timeout?: number;
  readonly insecure?: boolean;
  /** What to say to it. @defaultValue the first example of its card */
  readonly text?: string;
}

type Finding = Omit<DiagnosisStep, 'name'>;

/** Goes the way that a caller goes, step by step, and says at which one it ends and why. */
export async function diagnose(url: string, options: DoctorOptions = {}): Promise<DiagnosisStep[]> {
  return new Diagnosis(url, options).run();
}

class Diagnosis {
  readonly #url: string;
  readonly #options: DoctorOptions;
  readonly #timeout: number;
  readonly #line: RawHttpClient;
  readonly #receiver = new WebhookReceiver();
  readonly #steps: DiagnosisStep[] = [];

  constructor(url: string, options: DoctorOptions) {
    this.#url = url;
    this.#options = options;
    this.#timeout = options.timeout ?? 15_000;
    this.#line = new RawHttpClient({ deadline: this.#timeout, insecure: options.insecure ?? false });
  }

  async run(): Promise<DiagnosisStep[]> {
    const isOn =
      (await this.#step('DNS', () => findHost(this.#url))) &&
      (await this.#step('TLS', () => tryTls(this.#url, this.#timeout, this.#options.insecure ?? false))) &&
      (await this.#step('card', () => this.#card())) &&
      (await this.#step('version', () => this.#version()));
    if (isOn) await this.#talk();
    this.#line.close();
    this.#receiver.close();
    return this.#steps;
  }

  async #step(name: DiagnosisStep['name'], work: () => Promise<Finding>): Promise<boolean> {
    const finding = await work();
    this.#steps.push({ name, ...finding });
    return finding.state !== 'trouble';
  }

  async #card(): Promise<Finding> {
    const { headers = {} } = this.#options;
    const [place = this.#url, older] = cardLocations(this.#url);
    const exchange = await requestCard(this.#line, place, '1.0', headers);
    const { status, body, transportError: trouble } = exchange;
    if (status === 0)
      return wrong(
        `nobody answers at ${place}: ${trouble ?? exchange.end}`,
        'Start the agent, and look at port, firewall and proxy.',
      );
    const cards = await findCards(this.#line, this.#url, headers);
    const [published] = cards;
    if (published?.url === older && older !== undefined)
      return ok(`found at ${older}, which is the old place; callers of 1.0 look at ${place}`);
    if (published)
      return ok(`${published.url}, HTTP 200, ${JSON.stringify(published.card.name ?? 'no name')}`);
    if (status === 401 || status === 403)
      return wrong(`HTTP ${status} for the card`, 'Let everybody read the card; guard only what follows.');
    if (status === 200)
      return wrong(
        `${place} is no JSON object: ${JSON.stringify(body.slice(0, 60))}`,
        'Serve the card itself, as application/json. A page of HTML comes from a proxy or a web app.',
      );
    return wrong(`HTTP ${status} at ${place}`, 'Serve the card there, or give the address it is below.');
  }

  async #version(): Promise<Finding> {
    const cards = await findCards(this.#line, this.#url, this.#options.headers ?? {});
    const variants = cards.flatMap((each) => cardVariants(each));
    if (variants.length === 0)
      return wrong(
        'the card names no JSON-RPC or REST address',
        'List them in supportedInterfaces (1.0), or in url and preferredTransport (0.3).',
      );
    const lost = variants.find(({ url }) => isLoopbackUrl(url) && !isLoopbackUrl(this.#url));
    if (lost)
      return wrong(
        `the card sends callers to ${lost.url}, which is their own machine`,
        'Give the card the public address of the agent.',
      );
    const told = new Set(variants.map(({ version, transport }) => `${version} ${transport}`));
    return ok(`${[...told].join(', ')} at ${[...new Set(variants.map(({ url }) => url))].join(', ')}`);
  }

  async #talk(): Promise<void> {
    const { headers = {}, text } = this.#options;
    const context = { http: this.#line, receiver: this.#receiver, deadline: this.#timeout };
    const ways = text === undefined ? {} : { completed: { text } };
    const { probe, published } = await openPeer(this.#url, context, { headers, prompts: ways });
    if (!probe || !published) return;
    const isIn = await this.#step('auth', () => askToBeLetIn(probe, published, headers));
    if (!isIn) return;
    await this.#step('message', () => sayHello(probe, this.#timeout));
    await this.#step('stream', () => listen(probe));
  }
}

function ok(what: string): Finding {
  return { state: 'ok', finding: what };
}

function wrong(what: string, fix: string): Finding {
  return { state: 'trouble', finding: what, fix };
}

async function findHost(url: string): Promise<Finding> {
  let host: string;
  try {
    host = new URL(url).hostname.replaceAll(/^\[|\]$/g, '');
  } catch {
    return wrong(`${url} is no address`, 'Write it with http:// or https://.');
  }
  try {
    const found = await lookup(host, { all: true });
    return ok(`${host} is ${found.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const { code = 'no answer' } = error as NodeJS.ErrnoException;
    return code === 'EAI_AGAIN'
      ? wrong(`nobody answers what ${host} is (${code})`, 'Look at the network and at the name server.')
      : wrong(
          `nobody knows ${host} (${code})`,
          'Look at the spelling, at the DNS entry, and whether a VPN is needed.',
        );
  }
}

async function tryTls(url: string, timeout: number, isLenient: boolean): Promise<Finding> {
  const { protocol, hostname, port } = new URL(url);
  if (protocol !== 'https:')
    return { state: 'left-out', finding: 'http, so nothing is encrypted; use https where others reach it' };
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  return checkTls({ host, port: Number(port || 443), timeout, isLenient });
}

async function askToBeLetIn(
  probe: Probe,
  { card }: PublishedCard,
  headers: Readonly<Record<string, string>>,
): Promise<Finding> {
  const response = await probe.call('get', { id: crypto.randomUUID() });
  const { status } = response.exchange;
  const schemes = isJsonObject(card.securitySchemes) ? Object.keys(card.securitySchemes) : [];
  const wants = schemes.length > 0 ? `the card wants ${schemes.join(' or ')}` : 'the card names no scheme';
  if (status === 0)
    return wrong(
      `no answer at ${probe.driver.url}: ${response.exchange.transportError ?? response.exchange.end}`,
      'The card gives an address that cannot be reached from here; mend the address in the card.',
    );
  if (status !== 401 && status !== 403)
    return ok(Object.keys(headers).length > 0 ? `let in with what was given; ${wants}` : `let in; ${wants}`);
  return Object.keys(headers).length > 0
    ? wrong(
        `HTTP ${status} with what was given; ${wants}`,
        'Get a new token, and look at audience and scopes.',
      )
    : wrong(`HTTP ${status}; ${wants}`, "Give credentials: --header 'Authorization: Bearer …'.");
}

async function sayHello(probe: Probe, timeout: number): Promise<Finding> {
  const draft = probe.context.prompts.anyPrompt();
  const began = performance.now();
  const response = await probe.call('send', { message: draft });
  const took = `${Math.round(performance.now() - began)} ms`;
  const said = JSON.stringify(draft.text ?? '');
  if (response.error || response.decodeError !== undefined) {
    const { end, headers, status } = response.exchange;
    if (end === 'timeout')
      return wrong(
        `${said} was not answered in ${timeout} ms`,
        'Answer with a task at once and work on in the background, or raise --timeout.',
      );
    const isPage = headers['content-type']?.includes('html') ?? false;
    return wrong(
      isPage ? `${said} got a page of HTML, HTTP ${status}` : `${said} failed: ${describeResponse(response)}`,
      isPage
        ? 'The address in the card leads to a web server, not to the agent; mend it, or the proxy.'
        : 'Look at the log of the agent; run `dragoman conformance` for the rule that is broken.',
    );
  }
  const task = probe.driver.decodeTask(response.result);
  if (task) return ok(`${said} became a task, "${task.state}" in ${took}`);
  if (probe.driver.decodeMessage(response.result))
    return ok(`${said} was answered with a message in ${took}`);
  return wrong(
    `${said} got neither a task nor a message: ${describeResponse(response)}`,
    `Answer as ${probe.driver.version} says: the version of the card and of the answer must be the same.`,
  );
}

async function listen(probe: Probe): Promise<Finding> {
  const capabilities: JsonObject = probe.capabilities;
  if (capabilities.streaming !== true)
    return { state: 'left-out', finding: 'the card says that it does not stream' };
  const { exchange, events, isStream, isComplete } = await probe.openStream('stream', {
    message: probe.context.prompts.anyPrompt(),
  });
  const type = exchange.headers['content-type'] ?? 'no type';
  if (!isStream)
    return wrong(
      `HTTP ${exchange.status} with ${type} instead of a stream`,
      'Answer with text/event-stream, or set capabilities.streaming to false.',
    );
  const first = exchange.frames[0];
  if (!first || events.length === 0)
    return wrong(
      'the stream opened and no event came',
      'Flush after every event; turn off buffering in the proxy.',
    );
  const told = `${events.length} events, the first after ${Math.round(first.at)} ms`;
  return isComplete
    ? ok(`${told}, closed after ${Math.round(exchange.totalMs)} ms`)
    : wrong(`${told}, and it did not end (${exchange.end})`, 'Close the stream once the task has ended.');
}
