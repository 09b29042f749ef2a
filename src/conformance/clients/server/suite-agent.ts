import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { JsonObject } from '../../../primitives/json.ts';
import type { CheckedVariant } from '../../conformance-level.ts';
import type { CheckedTransport } from '../../rule-model.ts';
import { flattenHeaders } from '../../wire/http-exchange.ts';
import { buildSuiteCard, type CardFeatures, type CardInterface } from './agent-cards.ts';
import { ClosedPort } from './closed-port.ts';
import { CorrectAgent, type RunValues } from './correct-agent.ts';
import { decodeRestCall, decodeRpcCall } from './decode-call.ts';
import { FrontDoor } from './front-door.ts';
import { GrpcEndpoint } from './grpc-endpoint.ts';
import type { ReceivedCall, ReceivedRequest, RequestOrigin, SentResponse } from './received-request.ts';
import type { RawReply, Reply } from './reply.ts';
import {
  isOnLoopback,
  type NotificationKind,
  notifyWebhook,
  type SentNotification,
  webhookOf,
} from './webhook-notifier.ts';
import { selfSignedCertificate } from './self-signed-certificate.ts';
import { HttpReplyWriter } from './write-http-reply.ts';

/** Addresses of the agent of one run. */
export interface AgentAddresses {
  /** The URL that the suite passes to the client. */
  readonly agent: string;
  /** A server at another origin. */
  readonly other: string;
  /** The agent with a self-signed certificate; undefined unless the script asks for it. */
  readonly untrusted: string | undefined;
  /** A URL at which nothing listens. */
  readonly closed: string;
  /** URLs of the interfaces; that of gRPC is `host:port`. */
  readonly interfaces: Readonly<Record<CheckedTransport, string>>;
}

/** What a script knows about the call to which it replies. */
export interface ScriptContext {
  readonly agent: CorrectAgent;
  readonly addresses: AgentAddresses;
  /** Number of earlier calls of the same operation. */
  readonly earlier: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** How the agent of one run differs from a correct agent. */
export interface AgentScript {
  readonly features?: CardFeatures;
  /** Replaces the interfaces of the card. */
  readonly interfaces?: (addresses: AgentAddresses) => readonly CardInterface[];
  /** Replaces the card. */
  readonly card?: (card: JsonObject, addresses: AgentAddresses) => object | RawReply;
  /** True if the card or its only interface is unusable, so that rules about requests do not apply. */
  readonly hasBrokenCard?: boolean;
  /** True if the agent also has a server with TLS. */
  readonly hasUntrustedServer?: boolean;
  /** Path of the only card. @defaultValue both well-known paths */
  readonly cardPath?: string;
  /** Replies to a call; undefined for the reply of a correct agent. */
  readonly reply?: (call: ReceivedCall, context: ScriptContext) => Reply | undefined;
  /** Notifications to a webhook that the client registers on loopback. @defaultValue a valid one */
  readonly notifications?: readonly NotificationKind[];
  /** Replies to requests at the other origin. */
  readonly replyAtOther?: (request: ReceivedRequest) => RawReply;
}

const cardPaths = ['/.well-known/agent-card.json', '/.well-known/agent.json'];
const paths = { JSONRPC: '/agent/rpc', 'HTTP+JSON': '/agent/rest' } as const;
const maxRequestBytes = 4 * 1_024 * 1_024;
/** Milliseconds within which the end of a client closes its connections. */
const settleTime = 2_000;
/** Requests of one run after which the agent closes connections, because the client repeats them without end. */
const maxRequests = 500;

/** The agent of one run: it follows its script, records all requests and knows nothing about rules. */
export class SuiteAgent {
  readonly requests: ReceivedRequest[] = [];
  readonly notifications: SentNotification[] = [];
  #notifying: Promise<void> | undefined;
  readonly #variant: CheckedVariant;
  readonly #script: AgentScript;
  readonly #holdTime: number;
  readonly #agent: CorrectAgent;
  readonly #http: Server;
  readonly #other: Server;
  readonly #untrusted: Server | undefined;
  readonly #grpc: GrpcEndpoint;
  readonly #door: FrontDoor;
  #grpcPort = 0;
  #closed: ClosedPort | undefined;
  #addresses: AgentAddresses | undefined;

  constructor(variant: CheckedVariant, script: AgentScript, values: RunValues, holdTime: number) {
    this.#variant = variant;
    this.#script = script;
    this.#holdTime = holdTime;
    this.#agent = new CorrectAgent(values);
    this.#http = createServer((request, response) => this.#receive('agent', request, response));
    this.#other = createServer((request, response) => this.#receive('other', request, response));
    if (script.hasUntrustedServer)
      this.#untrusted = createHttpsServer(selfSignedCertificate(), (request, response) =>
        this.#receive('untrusted', request, response),
      );
    this.#grpc = new GrpcEndpoint(({ path, headers, call, body, problems, response }) => {
      const base = {
        number: this.requests.length + 1,
        at: performance.now(),
        origin: 'agent',
        method: 'POST',
      } as const;
      this.requests.push({
        ...base,
        target: path,
        headers,
        rawHeaders: [],
        body,
        isCard: false,
        call,
        wireProblems: problems,
        response,
      });
      return call && this.#decide(call, headers);
    }, holdTime);
    // A connection that the server closes while a slow client still reads would look like a broken response.
    for (const server of [this.#http, this.#other, this.#untrusted]) if (server) server.keepAliveTimeout = 0;
    this.#door = new FrontDoor(this.#http, () => this.#grpcPort);
  }

  get addresses(): AgentAddresses {
    if (!this.#addresses) throw new TypeError('The agent is not started');
    return this.#addresses;
  }

  async start(): Promise<AgentAddresses> {
    const [port, otherPort, closed, grpcPort, untrustedPort] = await Promise.all([
      this.#door.listen(),
      listen(this.#other),
      ClosedPort.reserve(),
      this.#grpc.listen(),
      this.#untrusted && listen(this.#untrusted),
    ]);
    this.#closed = closed;
    this.#grpcPort = grpcPort;
    const agent = `http://127.0.0.1:${port}`;
    this.#addresses = {
      agent,
      other: `http://127.0.0.1:${otherPort}`,
      untrusted: untrustedPort === undefined ? undefined : `https://127.0.0.1:${untrustedPort}`,
      closed: `http://127.0.0.1:${closed.port}`,
      interfaces: {
        JSONRPC: `${agent}${paths.JSONRPC}`,
        'HTTP+JSON': `${agent}${paths['HTTP+JSON']}`,
        GRPC: `127.0.0.1:${port}`,
      },
    };
    return this.#addresses;
  }

  /** Waits until the agent knows which responses the client, which has ended, left before their end. */
  async settle(): Promise<void> {
    await this.#notifying;
    const deadline = performance.now() + settleTime;
    const isOpen = ({ response }: ReceivedRequest): boolean => response.endedBy === undefined;
    while (this.requests.some(isOpen) && performance.now() < deadline)
      await new Promise((resolve) => void setTimeout(resolve, 5));
  }

  close(): void {
    this.#door.close();
    this.#other.close();
    this.#untrusted?.close();
    this.#untrusted?.closeAllConnections();
    this.#http.closeAllConnections();
    this.#other.closeAllConnections();
    this.#grpc.close();
    this.#closed?.release();
  }

  #receive(origin: RequestOrigin, request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxRequestBytes) chunks.push(chunk);
    });
    request.on('error', () => {});
    request.on('end', () => {
      const sent: SentResponse = {
        status: 0,
        headers: {},
        body: '',
        bytes: 0,
        endedAt: undefined,
        endedBy: undefined,
      };
      const writer = new HttpReplyWriter(response, sent, this.#holdTime);
      const received = this.#record(origin, request, Buffer.concat(chunks).toString(), sent);
      if (this.requests.length > maxRequests) response.destroy();
      else void this.#respond(received, writer);
    });
  }

  #record(
    origin: RequestOrigin,
    { method = '', url: target = '/', headers, rawHeaders }: IncomingMessage,
    body: string,
    response: SentResponse,
  ): ReceivedRequest {
    const [path = '', query = ''] = target.split('?');
    const isRest = path.startsWith(`${paths['HTTP+JSON']}/`);
    const call =
      origin === 'other'
        ? undefined
        : isRest
          ? decodeRestCall(method, path.slice(paths['HTTP+JSON'].length), query, body)
          : method === 'POST'
            ? decodeRpcCall(body, this.#variant.version)
            : undefined;
    const received: ReceivedRequest = {
      number: this.requests.length + 1,
      at: performance.now(),
      origin,
      method,
      target,
      headers: flattenHeaders(headers),
      rawHeaders,
      body,
      isCard: origin === 'agent' && method === 'GET' && cardPaths.includes(path),
      call,
      wireProblems: [],
      response,
    };
    this.requests.push(received);
    return received;
  }

  async #respond(request: ReceivedRequest, writer: HttpReplyWriter): Promise<void> {
    const { replyAtOther, cardPath } = this.#script;
    if (request.origin === 'other')
      return writer.raw(replyAtOther?.(request) ?? { kind: 'raw', status: 404 });
    const path = request.target.split('?')[0] ?? '';
    if (request.isCard && (cardPath === undefined || cardPath === path)) {
      const card = this.#card();
      return isRawReply(card) ? writer.raw(card) : writer.json(card);
    }
    const { call } = request;
    // A call at another path than that of its interface finds nothing there.
    const isAtInterface = call && (call.transport !== 'JSONRPC' || path === paths.JSONRPC);
    if (!isAtInterface) return writer.raw({ kind: 'raw', status: 404 });
    return writer.reply(call, this.#decide(call, request.headers));
  }

  async #notify(call: ReceivedCall, webhook: JsonObject): Promise<void> {
    await new Promise((resolve) => void setTimeout(resolve, notificationDelay));
    const kinds = this.#script.notifications ?? ['valid'];
    const task = this.#agent.task(call, 'completed');
    this.notifications.push(...(await notifyWebhook(call, webhook, task, kinds)));
  }

  #card(): object {
    const { card: change, interfaces, features = {} } = this.#script;
    const { version, transport } = this.#variant;
    const own = [{ transport, url: this.addresses.interfaces[transport] }];
    const card = buildSuiteCard(version, interfaces?.(this.addresses) ?? own, features);
    return change?.(card, this.addresses) ?? card;
  }

  #decide(call: ReceivedCall, headers: Readonly<Record<string, string>>): Reply {
    if (call.version !== this.#variant.version)
      return { kind: 'error', error: 'MethodNotFound', message: `This agent does not speak ${call.version}` };
    const same = this.requests.filter((each) => each.call?.operation === call.operation);
    const context = { agent: this.#agent, addresses: this.addresses, earlier: same.length - 1, headers };
    const webhook = webhookOf(call);
    if (webhook && isOnLoopback(webhook)) this.#notifying ??= this.#notify(call, webhook);
    if (call.operation === 'get' && this.#notifying && this.notifications.length === 0)
      return this.#agent.taskReply(call, 'working');
    const card = this.#card();
    return (
      this.#script.reply?.(call, context) ??
      this.#agent.reply(call, isRawReply(card) ? {} : { ...card, description: 'Extended.' })
    );
  }
}

/** Milliseconds in which the client receives the response before its webhook receives a notification. */
const notificationDelay = 100;

function isRawReply(value: object): value is RawReply {
  return 'kind' in value && value.kind === 'raw' && 'status' in value;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
