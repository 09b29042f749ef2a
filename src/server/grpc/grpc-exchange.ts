import type { GrpcMethod, GrpcService } from '../../dialects/protobuf/grpc-service.ts';
import { frameText } from '../../dialects/protobuf/length-prefix.ts';
import type { HeaderList } from '../../http2/hpack/header-encoder.ts';
import { A2AError, errorTable } from '../../protocol/errors.ts';
import type { AgentHttpHandler } from '../http/agent-http-handler.ts';
import { withActivatedExtensions } from '../http/extensions.ts';
import { type HttpServerRequest, type HttpServerResponse, singleHeader } from '../http/http-message.ts';
import { SseStream, type TextSink } from '../http/sse-stream.ts';
import type { ByteReservation } from '../limits/byte-budget.ts';
import { agentMetadata, type GrpcAgents, type GrpcAgentTarget } from './grpc-agents.ts';
import type { ServerCall } from './server-call.ts';
import { handleGrpc } from './handle-grpc.ts';
import { type GrpcCallObserver, observeCall } from './observe-call.ts';
import { readMessage, readTenant } from './read-message.ts';

/** A method that the server has. */
interface ServedMethod {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
}

/** A call of an agent: reads the message, performs the operation, and sends results or events. */
export class GrpcExchange implements TextSink {
  readonly #call: ServerCall;
  /** Handler of the agent; until the message is read, the one that admits calls. */
  #handler: AgentHttpHandler;
  readonly #agentFor: GrpcAgents['agentFor'];
  #target: GrpcAgentTarget | undefined = undefined;
  readonly #method: ServedMethod | undefined;
  /** The request, after authentication without credentials. */
  #caller: HttpServerRequest;
  #reservation: ByteReservation | undefined = undefined;
  #events: SseStream | undefined = undefined;
  #observer: GrpcCallObserver | undefined = undefined;
  #onSent: (() => void) | undefined = undefined;

  constructor(
    handler: AgentHttpHandler,
    call: ServerCall,
    method: ServedMethod | undefined,
    agentFor?: GrpcAgents['agentFor'],
  ) {
    this.#handler = handler;
    this.#agentFor = agentFor;
    this.#call = call;
    this.#caller = call.request;
    this.#method = method;
    call.version = method?.service.dialect.version;
    call.onEnded = () => this.#release();
    call.onStalled = () => this.#handler.context.telemetry?.metrics?.countLimitHit('stallTimeout');
    call.onInterrupted = (error) => this.#interrupt(error);
  }

  /** Handles the call. Never rejects. */
  async run(): Promise<void> {
    const { request } = this.#call;
    try {
      const refusal = this.#handler.admit(request);
      if (refusal) throw refusal;
      const method = await this.#authenticate();
      const { message, target } = await this.#readCall(method);
      if (this.#call.isOver) return;
      const authenticated = this.#caller;
      const { onTraffic } = this.#handler;
      if (onTraffic) {
        request.body = frameText(message);
        this.#observer = observeCall(onTraffic, authenticated, method);
      }
      const response = await handleGrpc(this.#handler.context, authenticated, method, message, target);
      this.#respond(await this.#withExtensions(this.#observer?.responded(response) ?? response));
    } catch (thrown) {
      this.#fail(A2AError.from(thrown));
    }
  }

  /** Authenticates the client. @returns the method of the call */
  async #authenticate(): Promise<ServedMethod> {
    const { limiter, authenticators } = this.#handler.context;
    const { request } = this.#call;
    const method = this.#method;
    if (!method)
      throw (
        limiter.takeRate(request) ??
        new A2AError('METHOD_NOT_FOUND', `There is no method ${request.path.slice(0, 200)}`)
      );
    this.#caller = authenticators ? await authenticators.authenticate(request) : request;
    this.#startTelemetry();
    return method;
  }

  /** Reads the message and finds its agent. A call that cannot be read counts for the rate of its client. */
  async #readCall({
    method,
  }: ServedMethod): Promise<{ message: Uint8Array; target: GrpcAgentTarget | undefined }> {
    const { budgets, limiter } = this.#handler.context;
    try {
      const reservation = budgets.openBody(this.#caller);
      this.#reservation = reservation;
      const message = await readMessage(this.#call, reservation);
      this.#call.request.bodyLength = message.length;
      return { message, target: this.#call.isOver ? undefined : this.#findAgent(method, message) };
    } catch (thrown) {
      throw limiter.takeRate(this.#caller) ?? thrown;
    }
  }

  /** Finds the agent on a server with several agents. */
  #findAgent({ request: type }: GrpcMethod, message: Uint8Array): GrpcAgentTarget | undefined {
    if (!this.#agentFor) return undefined;
    const { path, headers } = this.#call.request;
    const target = this.#agentFor({
      path,
      agent: singleHeader(headers, agentMetadata),
      tenant: readTenant(type, message),
      host: singleHeader(headers, 'host'),
    });
    if (!target)
      throw new A2AError(
        'NOT_FOUND',
        `The call names no agent of this server. Use the tenant of its card, its name in the metadata ${agentMetadata}, or a host name that starts with it`,
      );
    target.requestStarted();
    this.#target = target;
    this.#handler = target.handler;
    const { refusal } = target.handler;
    if (refusal) throw refusal;
    return target;
  }

  #startTelemetry(): void {
    const { telemetry } = this.#handler.context;
    const { request } = this.#call;
    if (!telemetry || request.telemetry) return;
    request.telemetry = telemetry.start(this.#caller);
    request.telemetry.transport = 'GRPC';
  }

  #withExtensions(response: HttpServerResponse): Promise<HttpServerResponse> | HttpServerResponse {
    const { headers } = this.#caller;
    if (headers['a2a-extensions'] === undefined && headers['x-a2a-extensions'] === undefined) return response;
    return withActivatedExtensions(this.#caller, response, this.#handler.context.agent);
  }

  #respond({ body, headers, onSent }: HttpServerResponse): void {
    const call = this.#call;
    this.#reservation?.release();
    this.#onSent = onSent;
    if (call.isOver) {
      if (body instanceof SseStream) {
        body.detach();
        this.#handler.streamEnded(body);
      }
      onSent?.();
      return;
    }
    call.open(extensionMetadata(headers));
    if (body instanceof SseStream) {
      this.#events = body;
      call.request.body = '';
      body.pipe(this);
    } else {
      const { telemetry } = call.request;
      call.end(body);
      telemetry?.end(200);
    }
  }

  #fail(error: A2AError): void {
    const { request } = this.#call;
    this.#startTelemetry();
    this.#observer?.failed(error);
    this.#handler.context.report(error, this.#caller);
    request.telemetry?.end(errorTable[error.reason].http);
    this.#call.fail(error);
  }

  /** Ends the call when its deadline passes or the server stops. */
  #interrupt(error: A2AError): void {
    const events = this.#events;
    if (!events) {
      this.#fail(error);
      return;
    }
    events.error = error;
    events.end();
  }

  #release(): void {
    this.#reservation?.release();
    this.#target?.requestEnded();
    this.#target = undefined;
    this.#onSent?.();
    const events = this.#events;
    if (!events) return;
    this.#events = undefined;
    events.detach();
    this.#handler.streamEnded(events);
  }

  write(text: string): boolean {
    return this.#call.write(text);
  }

  once(_event: 'drain', callback: () => void): void {
    this.#call.onDrained = callback;
  }

  end(last?: string): void {
    const { error, isComplete = true } = this.#events ?? {};
    const interruption = isComplete ? undefined : new A2AError('UNAVAILABLE', 'The server is stopping');
    this.#call.end(last, error ?? interruption);
  }

  destroy(): void {
    this.#call.destroy();
  }
}

/** Returns the header with the activated extensions, if there is one. */
function extensionMetadata(headers: readonly string[]): HeaderList | undefined {
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i]?.toLowerCase() ?? '';
    if (name.endsWith('a2a-extensions')) return [name, headers[i + 1] ?? ''];
  }
  return undefined;
}
