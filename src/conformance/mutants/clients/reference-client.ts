import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { ClientExit, ClientInstruction, ClientUnderTest } from '../../clients/client-under-test.ts';
import { clientOperations } from '../../clients/client-under-test.ts';
import {
  asText,
  eventState,
  objectOf,
  partsToText,
  type NormalizedTask,
} from '../../drivers/normalized-views.ts';
import type {
  DecodedResponse,
  DriverOperation,
  OperationInput,
  ProtocolDriver,
} from '../../drivers/protocol-driver.ts';
import { RawHttpClient, type RawRequest } from '../../wire/raw-http-client.ts';
import { type ClientFlaw, corruptRequest } from './client-flaws.ts';
import { ClientCrashError, ClientFailureError, ConnectionFailureError } from './client-failure.ts';
import { isPlainResponse, isSecured0_1, toDriverExchange, toFrame, withIds } from './reference-decoding.ts';
import { discoverInterfaces } from './reference-discovery.ts';
import { ReferenceHttp, type ReferenceResponse } from './reference-http.ts';
import { ReferenceWebhook } from './reference-webhook.ts';

const endStates: ReadonlySet<string> = new Set(['completed', 'failed', 'canceled', 'rejected']);
const pauseStates: ReadonlySet<string> = new Set(['input-required', 'auth-required']);
const maxAttempts = 3;

/** Creates the reference client, which is correct, or a mutant of it with flaws. */
export function createReferenceClient(...flaws: readonly ClientFlaw[]): ClientUnderTest {
  return {
    name: 'reference client',
    command: `reference-client {url}${flaws.map((flaw) => ` --${flaw}`).join('')}`,
    operations: clientOperations,
    takesToken: true,
    async run(instruction, signal) {
      const client = new ReferenceClient(instruction, new Set(flaws), signal);
      try {
        await client.perform();
        return client.exit(0);
      } catch (error) {
        if (signal.aborted) return { ...client.exit(1), code: undefined, isTimeout: true };
        if (error instanceof ClientCrashError)
          return { ...client.exit(1), code: undefined, signal: 'SIGABRT' };
        if (!(error instanceof ClientFailureError)) throw error;
        return client.exit(
          flaws.includes('hides-errors') ? 0 : 1,
          flaws.includes('hides-errors') ? '' : error.message,
        );
      } finally {
        client.close();
      }
    },
  };
}

class ReferenceClient {
  readonly #instruction: ClientInstruction;
  readonly #flaws: ReadonlySet<ClientFlaw>;
  readonly #signal: AbortSignal;
  readonly #http: ReferenceHttp;
  readonly #raw = new RawHttpClient({ deadline: 60_000, insecure: true });
  #output = '';
  #card: JsonObject = {};

  constructor(instruction: ClientInstruction, flaws: ReadonlySet<ClientFlaw>, signal: AbortSignal) {
    this.#instruction = instruction;
    this.#flaws = flaws;
    this.#signal = signal;
    this.#http = new ReferenceHttp((flaw) => flaws.has(flaw), signal);
  }

  exit(code: number, stderr = ''): ClientExit {
    return { code, isTimeout: false, stdout: this.#output, stderr };
  }

  close(): void {
    this.#raw.close();
  }

  async perform(): Promise<void> {
    const { url, token } = this.#instruction;
    const { card, drivers } = await discoverInterfaces(url, token, this.#http, (flaw) => this.#has(flaw));
    this.#card = card;
    let failure: unknown = new ClientFailureError('No interface');
    if (drivers.length === 0 && this.#has('accepts-any-card')) return;
    for (const driver of drivers)
      try {
        await this.#performWith(driver);
        return;
      } catch (error) {
        if (!(error instanceof ConnectionFailureError)) throw error;
        failure = error;
      }
    throw failure;
  }

  async #performWith(driver: ProtocolDriver): Promise<void> {
    const { operation, text, reply, taskId: id } = this.#instruction;
    const canStream = objectOf(this.#card.capabilities).streaming === true || this.#has('streams-anyway');
    switch (operation) {
      case 'send':
        await this.#send(driver, { message: { text } });
        if (this.#has('fails-always') || (this.#has('fails-0.2') && this.#card.protocolVersion === undefined))
          throw new ClientFailureError('failed');
        if (this.#has('repeats-messages')) await this.#send(driver, { message: { text } });
        return;
      case 'stream':
        if (this.#has('fails-streams') && canStream)
          await this.#stream(driver, 'stream', { message: { text } });
        if (this.#has('fails-streams')) throw new ClientFailureError('failed');
        if (canStream) await this.#stream(driver, 'stream', { message: { text } });
        else await this.#send(driver, { message: { text } });
        return;
      case 'converse':
        await this.#converse(driver, text, reply);
        return;
      case 'subscribe':
        await this.#stream(driver, 'subscribe', { id });
        return;
      case 'get':
      case 'cancel':
        this.#printTask(driver.decodeTask(await this.#call(driver, operation, { id })));
        return;
      case 'list':
        await this.#list(driver);
        return;
      case 'push':
        await this.#registerWebhook(driver, id);
        return;
      case 'extended-card':
        await this.#call(driver, 'extendedCard', {});
    }
  }

  /** Registers a webhook and waits for its first notification. */
  async #registerWebhook(driver: ProtocolDriver, taskId: string): Promise<void> {
    const webhook = new ReferenceWebhook((flaw) => this.#has(flaw));
    await webhook.listen();
    try {
      const { token } = webhook;
      const url = this.#has('relative-webhook') ? '/hook' : webhook.url;
      await this.#call(driver, 'createPush', { taskId, webhook: { url, token } });
      if (!this.#has('relative-webhook')) await Promise.race([webhook.received, this.#hang()]);
    } finally {
      webhook.close();
    }
  }

  async #converse(driver: ProtocolDriver, text: string, reply: string): Promise<void> {
    const task = await this.#send(driver, { message: { text } });
    if (task?.state !== 'input-required') return;
    const taskId = this.#has('forgets-task') ? undefined : task.id;
    const contextId = this.#has('changes-context') ? task.contextId?.trim() : task.contextId;
    await this.#send(driver, { message: { text: reply, ...withIds({ taskId, contextId }) } });
  }

  async #list(driver: ProtocolDriver): Promise<void> {
    let pageToken: string | undefined;
    for (let page = 0; page < 3; page++) {
      const result = objectOf(await this.#call(driver, 'list', pageToken === undefined ? {} : { pageToken }));
      if (!Array.isArray(result.tasks) || this.#has('fails-lists'))
        throw new ClientFailureError('The response is no list of tasks');
      pageToken = asText(result.nextPageToken);
      if (pageToken === undefined || pageToken === '') return;
      if (this.#has('changes-page-token')) pageToken = encodeURIComponent(pageToken);
    }
  }

  async #send(driver: ProtocolDriver, input: OperationInput): Promise<NormalizedTask | undefined> {
    const result = await this.#call(driver, 'send', input);
    const task = driver.decodeTask(result);
    const message =
      driver.decodeMessage(result) ?? (objectOf(result).kind === 'message' ? objectOf(result) : undefined);
    if (this.#has('needs-artifacts') && task && !task.artifacts) throw new ClientFailureError('No artifacts');
    if (this.#has('needs-milliseconds') && task && !/\.\d{3}Z$/.test(task.timestamp ?? ''))
      throw new ClientFailureError('Invalid timestamp');
    if (this.#has('needs-task') && !task) throw new ClientFailureError('The response is no task');
    if (!task?.id && !message && !this.#has('accepts-anything'))
      throw new ClientFailureError('The response is neither a task nor a message');
    this.#printTask(task);
    await this.#downloadFiles(task);
    return task;
  }

  async #downloadFiles(task: NormalizedTask | undefined): Promise<void> {
    for (const part of task?.artifacts?.flatMap(({ parts }) => parts) ?? []) {
      const url = asText(objectOf(part).url);
      const credentials = { authorization: `Bearer ${this.#instruction.token}` };
      const headers = this.#has('downloads-with-credentials') ? credentials : {};
      if (url !== undefined) await this.#http.send({ method: 'GET', url, headers });
    }
  }

  #printTask(task: NormalizedTask | undefined): void {
    for (const { parts } of task?.artifacts ?? []) this.#output += `${partsToText(parts)}\n`;
  }

  /** Reads a stream until the task ends, and resumes it if it breaks. */
  async #stream(
    driver: ProtocolDriver,
    operation: 'stream' | 'subscribe',
    input: OperationInput,
  ): Promise<void> {
    const seen = { state: '', taskId: input.id, contents: '' };
    let next: { operation: 'stream' | 'subscribe'; input: OperationInput } = { operation, input };
    const limit = this.#has('resumes-without-pause') ? Infinity : maxAttempts;
    for (let attempt = 0; attempt <= limit && !this.#signal.aborted; attempt++) {
      if (attempt > 0 && limit === maxAttempts)
        await new Promise((resolve) => void setTimeout(resolve, 20 * 2 ** attempt));
      try {
        await this.#readStream(driver, next.operation, next.input, seen);
      } catch (error) {
        // A connection that breaks while it is used again is one more broken stream.
        if (attempt === 0 || !(error instanceof ConnectionFailureError)) throw error;
      }
      if (endStates.has(seen.state) || seen.state === 'message') break;
      if (pauseStates.has(seen.state) && !this.#has('resumes-interrupted')) break;
      if (seen.taskId === undefined || this.#has('gives-up-streams') || this.#has('ignores-broken-streams'))
        break;
      next = this.#has('repeats-broken-streams')
        ? { operation: 'stream', input }
        : { operation: 'subscribe', input: { id: seen.taskId } };
    }
    this.#output += seen.contents;
    const isEnd = endStates.has(seen.state) || pauseStates.has(seen.state) || seen.state === 'message';
    if (!isEnd && !this.#has('ignores-broken-streams') && !this.#has('accepts-anything'))
      throw new ClientFailureError('The stream broke');
  }

  async #readStream(
    driver: ProtocolDriver,
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    seen: { state: string; taskId: string | undefined; contents: string },
  ): Promise<void> {
    let failure: string | undefined;
    const onData = (data: string): boolean => {
      const { event, error, decodeError } = driver.decodeFrame(toFrame(data));
      if (decodeError !== undefined) failure = decodeError;
      if (error && !this.#has('ignores-error-events')) failure = error.message;
      else if (error) seen.state = 'completed';
      if (failure !== undefined || error) return true;
      const decoded = driver.decodeEvent(event);
      if (decoded.kind === 'unknown' && this.#has('rejects-unknown-events')) failure = decoded.reason;
      if (decoded.kind === 'message') seen.state = this.#has('needs-task-in-stream') ? 'working' : 'message';
      if (decoded.kind === 'task') seen.taskId = decoded.task.id;
      if (decoded.kind === 'status' || decoded.kind === 'artifact') seen.taskId ??= decoded.taskId;
      if (decoded.kind === 'artifact') seen.contents += `${partsToText(decoded.artifact?.parts ?? [])}\n`;
      if (decoded.kind === 'task' && this.#has('rejects-late-tasks') && seen.state !== '')
        failure = 'Unexpected task';
      if (this.#has('needs-working') && eventState(decoded) === 'completed' && seen.state === 'submitted')
        failure = 'Unexpected state';
      if (decoded.kind === 'task')
        for (const { parts } of decoded.task.artifacts ?? []) seen.contents += `${partsToText(parts)}\n`;
      seen.state = eventState(decoded) === '' ? seen.state : eventState(decoded);
      const isEnd = endStates.has(seen.state) || seen.state === 'message';
      return failure !== undefined || (isEnd && !this.#has('waits-for-end'));
    };
    const lost = await this.#request(driver, operation, input, onData);
    if (failure !== undefined) throw new ClientFailureError(failure);
    if (lost.error && !this.#has('ignores-stream-errors')) throw new ClientFailureError(lost.error.message);
    if (lost.decodeError !== undefined && !this.#has('ignores-stream-errors'))
      throw new ClientFailureError(lost.decodeError);
    if (lost.error || lost.decodeError !== undefined) seen.state = 'completed';
  }

  async #call(driver: ProtocolDriver, operation: DriverOperation, input: OperationInput): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const { result, error, decodeError, exchange } = await this.#request(driver, operation, input);
      if (attempt < 5 && this.#has('repeats-at-once') && [429, 503].includes(exchange.status)) continue;
      if (attempt < 5 && this.#has('repeats-rejected') && (error || exchange.status === 401)) continue;
      if (error && this.#has('ignores-extensions')) return { task: { status: {}, id: 'x' } };
      if (error && this.#has('ignores-unknown-codes') && error.code === -31999)
        return { status: {}, id: 'x' };
      if (error && this.#has('ignores-not-found') && error.message.startsWith('refused-'))
        return { status: {}, id: 'x' };
      if (error) throw new ClientFailureError(error.message);
      if (decodeError !== undefined && !this.#has('accepts-anything'))
        throw new ClientFailureError(decodeError);
      return result;
    }
  }

  /** Sends one request over HTTP or gRPC. */
  async #request(
    driver: ProtocolDriver,
    operation: DriverOperation,
    input: OperationInput,
    onData?: (data: string) => boolean,
  ): Promise<DecodedResponse> {
    const encoded = driver.encode(operation, input, {
      headers: {
        ...this.#credentials(operation),
        ...(this.#has('ignores-extensions') ? { 'a2a-extensions': '' } : {}),
      },
      ...(this.#has('unknown-fields') ? { transform: (wire) => ({ ...wire, xFuture: 1 }) } : {}),
    });
    if (!encoded) throw new ClientFailureError(`The version has no operation ${operation}`);
    const accept: Record<string, string> = onData && !encoded.grpc ? { accept: 'text/event-stream' } : {};
    const request = corruptRequest(
      { ...encoded, headers: { ...accept, ...encoded.headers } },
      this.#flaws,
      this.#instruction,
    );
    if (request.grpc) return this.#requestGrpc(driver, request, onData);
    if (request.method === 'GET' && this.#has('body-in-get'))
      return driver.decode(await this.#raw.send({ ...request, body: '{}' }));
    if (request.url.startsWith('https:') && this.#has('trusts-certificates'))
      return driver.decode(await this.#raw.send(request));
    const response = await this.#http.send(request, onData);
    if (response.text.length > 100_000 && this.#has('crashes-when-deep')) throw new ClientCrashError();
    if (this.#has('hangs-on-wrong-types') && !isPlainResponse(response.text)) await this.#hang();
    if (onData && response.text === '' && response.status === 200)
      return { exchange: toDriverExchange(request, response) };
    this.#checkId(request, response);
    const decoded = driver.decode(toDriverExchange(request, response));
    const isFailure = response.status >= 400 && !decoded.error;
    if (this.#has('accepts-anything')) return decoded;
    return isFailure ? { exchange: decoded.exchange, decodeError: `HTTP ${response.status}` } : decoded;
  }

  async #requestGrpc(
    driver: ProtocolDriver,
    request: RawRequest,
    onData?: (data: string) => boolean,
  ): Promise<DecodedResponse> {
    const exchange = await this.#raw.send({
      ...request,
      signal: this.#signal,
      ...(onData ? { onFrame: ({ data = '' }) => onData(data) } : {}),
    });
    if (exchange.end === 'failed') throw new ConnectionFailureError('The agent cannot be reached');
    if (onData && exchange.frames.length > 0) {
      const { error } = exchange.end === 'complete' ? driver.decode(exchange) : {};
      return error ? { exchange, error } : { exchange };
    }
    return driver.decode(exchange);
  }

  #checkId({ body }: RawRequest, { text }: ReferenceResponse): void {
    const sent = objectOf(parseJsonOrUndefined(asText(body) ?? ''));
    const received = parseJsonOrUndefined(text);
    if (sent.jsonrpc === undefined || !isJsonObject(received) || received.error !== undefined) return;
    if (received.id !== sent.id && !this.#has('ignores-ids') && !this.#has('ignores-truncation'))
      throw new ClientFailureError('The response belongs to another request');
    if (this.#has('rejects-unknown-members') && text.includes('xFuture'))
      throw new ClientFailureError('Unknown member');
  }

  #credentials(operation: DriverOperation): Record<string, string> {
    const isSecured = this.#card.securitySchemes !== undefined || isSecured0_1(this.#card);
    if (!isSecured || this.#has('no-credentials')) return {};
    if (operation === 'extendedCard' && this.#has('no-credentials-for-card')) return {};
    return { authorization: `Bearer ${this.#instruction.token}` };
  }

  #hang(): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.#signal.addEventListener('abort', () => reject(new ClientFailureError('aborted')));
    });
  }

  #has(flaw: ClientFlaw): boolean {
    return this.#flaws.has(flaw);
  }
}
