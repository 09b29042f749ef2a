import { type HttpClient, type HttpRequest, HttpTransportError } from '../../client/http/http-client.ts';
import { noResponseError } from '../../client/http/response-errors.ts';
import { parseTarget } from '../../client/http/send-request.ts';
import { MalformedMessageError } from '../../dialects/protobuf/byte-reader.ts';
import { encodeFrame } from '../../dialects/protobuf/encode-message.ts';
import { findGrpcMethod } from '../../dialects/protobuf/grpc-service.ts';
import { parseBoundedJson } from '../../primitives/json.ts';
import { redactedPlaceholder } from '../../primitives/redaction/redaction.ts';
import { A2AError, canceledError, invalidField } from '../../protocol/errors.ts';
import { tapHttpClient } from '../../tap/recorders/tap-http-client.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { ConsoleAgent } from '../agents/console-agent.ts';
import { credentialHeaders, credentialQuery } from '../agents/credentials.ts';
import type { ComposedRequest } from '../console-api.ts';

/** Collaborators of a {@link ComposedRequestSender}. */
export interface ComposedRequestContext {
  /** Client without recording. */
  readonly http: HttpClient;
  /** Traffic log of the console, if it records its own requests. */
  readonly trafficLog: TrafficLog | undefined;
  /** Returns the name of the agent at an origin. */
  readonly nameAt: (origin: string) => string;
  /** Maximum size of a response in bytes. @defaultValue 64 MiB */
  readonly maxResponseBytes?: number;
}

/** A request with the credentials of the console. */
interface OutgoingRequest {
  readonly method: ComposedRequest['method'];
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly destination: Awaited<ReturnType<ConsoleAgent['resolveDestination']>>;
}

/** Sends requests of the user without any change: no retries, no redirects, no negotiation. */
export class ComposedRequestSender {
  readonly #context: ComposedRequestContext;
  readonly #maxResponseBytes: number;

  constructor(context: ComposedRequestContext) {
    this.#context = context;
    this.#maxResponseBytes = context.maxResponseBytes ?? 64 * 1_024 * 1_024;
  }

  /** Sends a request and records the exchange in `log`. */
  async send(
    agent: ConsoleAgent,
    input: ComposedRequest,
    log: TrafficLog,
    signal: AbortSignal,
  ): Promise<void> {
    const outgoing = await this.#addCredentials(agent, input);
    const logs = [log, ...(this.#context.trafficLog ? [this.#context.trafficLog] : [])];
    try {
      const { path } = parseTarget(outgoing.url);
      const body = input.isGrpc ? encodeGrpcBody(path, input.body ?? '') : input.body;
      await this.#send({ ...outgoing, path, body, http2: input.isGrpc === true, signal }, logs);
    } catch (thrown) {
      if (signal.aborted) throw canceledError(signal);
      if (thrown instanceof HttpTransportError) throw noResponseError(thrown, outgoing.url);
      throw thrown;
    }
  }

  /** What the user wrote has precedence over the credentials of the console. */
  async #addCredentials(agent: ConsoleAgent, input: ComposedRequest): Promise<OutgoingRequest> {
    const { method, hasCredentials = true } = input;
    const { http } = this.#context;
    const url = new URL(input.url);
    url.hash = '';
    const destination = await agent.resolveDestination(url.href);
    const { credentials } = agent.info;
    const headers: Record<string, string> = {};
    for (const { name, value } of input.headers) {
      const key = name.toLowerCase();
      if (value.includes(redactedPlaceholder)) continue;
      headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
    }
    if (!hasCredentials || !destination.mayReceiveCredentials)
      return { method, url: url.href, headers, destination };
    const added = await credentialHeaders(credentials, url.href, http);
    for (const [name, value] of Object.entries(await credentialQuery(credentials, url.href, http)))
      url.searchParams.set(name, value);
    return { method, url: url.href, headers: { ...added, ...headers }, destination };
  }

  async #send(
    { destination, ...request }: OutgoingRequest & Pick<HttpRequest, 'path' | 'body' | 'http2' | 'signal'>,
    logs: readonly TrafficLog[],
  ): Promise<void> {
    const { nameAt } = this.#context;
    const http = logs.reduce(
      (client, log) => tapHttpClient(client, log, { from: 'console', to: nameAt }),
      this.#context.http,
    );
    const { origin, egress } = destination;
    const response = await http.request({ ...request, origin, egress });
    let size = 0;
    for await (const bytes of response.chunks()) {
      size += bytes.length;
      this.#checkSize(size);
    }
  }

  #checkSize(size: number): void {
    if (size > this.#maxResponseBytes)
      throw new A2AError(
        'INVALID_AGENT_RESPONSE',
        `The response has more than ${this.#maxResponseBytes} bytes and was aborted`,
      );
  }
}

/** gRPC sends protocol buffers: a message that is not JSON or does not fit its fields cannot be sent. */
function encodeGrpcBody(path: string, body: string): Uint8Array {
  const found = findGrpcMethod(path);
  if (!found) throw invalidField('url', 'must end with a method of A2AService');
  let message: unknown;
  try {
    message = parseBoundedJson(body.trim() === '' ? '{}' : body);
  } catch {
    throw invalidField('body', 'must be JSON, because gRPC cannot send other text');
  }
  try {
    return encodeFrame(found.method.request, message);
  } catch (thrown) {
    if (!(thrown instanceof MalformedMessageError)) throw thrown;
    throw invalidField('body', `must fit ${found.method.request.name}: ${thrown.message}`);
  }
}
