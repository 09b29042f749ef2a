import { sleep, systemClock } from '../primitives/clock.ts';
import { CheckAssertions } from './check-assertions.ts';
import { RuleViolationError, InconclusiveError } from './check-errors.ts';
import type { PromptCatalog, TargetOutcome } from './prompts/prompt-catalog.ts';
import { restingStates, terminalStates } from './observation/task-tracker.ts';
import type { Observation } from './observation/observation.ts';
import { describeError, describeResponse } from './drivers/describe-response.ts';
import { type ErrorResponse, type ProtocolErrorName, errorMismatch } from './drivers/error-response.ts';
import type {
  OperationInput,
  MessageDraft,
  DecodedResponse,
  RequestOverrides,
  DriverOperation,
  ProtocolDriver,
} from './drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../primitives/json.ts';
import {
  type NormalizedEvent,
  type NormalizedMessage,
  type NormalizedTask,
  objectOf,
} from './drivers/normalized-views.ts';
import { type HttpExchange, toEvidence } from './wire/http-exchange.ts';
import type { RawRequest } from './wire/raw-http-client.ts';
import type { ProbeContext } from './probe-context.ts';

/** Result of reading a stream. */
export interface ObservedStream {
  readonly exchange: HttpExchange;
  readonly events: readonly NormalizedEvent[];
  /** Error response or error event. */
  readonly error: ErrorResponse | undefined;
  /** True if the response is an event stream. */
  readonly isStream: boolean;
  /** True if the agent closed the stream, not the suite or the deadline. */
  readonly isComplete: boolean;
}

/** Options of {@link Probe.openStream}. */
export interface StreamReadOptions {
  readonly overrides?: RequestOverrides;
  /** Stops reading after the event for which it returns true. */
  readonly until?: (event: NormalizedEvent, index: number) => boolean;
  /** Milliseconds. */
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** Input of a send that a prompt completes with a message. */
export type PromptInput = Omit<OperationInput, 'message'> & { message?: MessageDraft };

/** A task with an id. */
export type IdentifiedTask = NormalizedTask & { readonly id: string };

/** Sends the requests of one check over one protocol variant and reports every response to the invariants. */
export class Probe extends CheckAssertions {
  readonly context: ProbeContext;

  constructor(context: ProbeContext, exchanges?: HttpExchange[]) {
    super(exchanges);
    this.context = context;
  }

  get driver(): ProtocolDriver {
    return this.context.driver;
  }

  get prompts(): PromptCatalog {
    return this.context.prompts;
  }

  get card(): JsonObject {
    return this.context.card;
  }

  get capabilities(): JsonObject {
    return objectOf(this.card.capabilities);
  }

  /** Returns a probe for another transport of the same version. */
  withDriver(driver: ProtocolDriver): Probe {
    return new Probe({ ...this.context, driver }, this.exchanges);
  }

  /** Returns a probe with other credentials; an empty object sends none. */
  withCredentials(headers: Readonly<Record<string, string>>): Probe {
    return new Probe({ ...this.context, headers }, this.exchanges);
  }

  /** Sends a request without decoding or observing the response. */
  async sendRaw(request: RawRequest): Promise<HttpExchange> {
    const { http, headers, crashMonitor, driver } = this.context;
    await crashMonitor.waitUntilUp();
    const exchange = await http.send({ ...request, headers: { ...headers, ...request.headers } });
    // Checks inspect only the newest exchange in full; older ones are truncated to save memory.
    const previous = this.exchanges.at(-1);
    if (previous) this.exchanges[this.exchanges.length - 1] = toEvidence(previous);
    this.exchanges.push(exchange);
    await crashMonitor.inspect(exchange, driver);
    return exchange;
  }

  /** Calls an operation and returns the decoded response, which may be an error. */
  async call(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): Promise<DecodedResponse> {
    if (operation === 'send' || operation === 'stream') this.context.countMessage();
    const request = this.#encode(operation, input, overrides);
    const requestedAt = performance.now();
    const exchange = await this.sendRaw(request);
    const { driver } = this;
    const response = driver.decode(exchange);
    this.context.observe({ kind: 'response', driver, exchange, operation, input, overrides, response });
    const returnsTask = operation === 'send' || operation === 'get' || operation === 'cancel';
    const task = returnsTask ? driver.decodeTask(response.result) : undefined;
    if (task) this.#observeTask(task, operation, exchange, requestedAt);
    return response;
  }

  /** Calls an operation that must succeed. */
  async expectResult(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): Promise<unknown> {
    const response = await this.call(operation, input, overrides);
    this.expectSuccess(response, `${operation} failed: ${describeResponse(response)}`);
    return response.result;
  }

  /** Calls an operation that must return one of the named errors. */
  async expectError(
    operation: DriverOperation,
    input: OperationInput,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    overrides?: RequestOverrides,
  ): Promise<ErrorResponse> {
    const response = await this.call(operation, input, overrides);
    return this.assertError(response, names, operation);
  }

  /** Returns the task or the direct message of a response to `send`. */
  decodeSendResult({ result }: DecodedResponse): NormalizedTask | NormalizedMessage | undefined {
    return this.driver.decodeTask(result) ?? this.driver.decodeMessage(result);
  }

  /** Opens a stream that must fail with one of the named errors. */
  async expectStreamError(
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    subject: string,
    overrides?: RequestOverrides,
  ): Promise<ErrorResponse> {
    const { exchange, error, events } = await this.openStream(operation, input, { overrides });
    return this.assertError({ exchange, ...(error ? { error } : { result: events }) }, names, subject);
  }

  /** Asserts that a response is one of the named errors; `subject` begins the message of the violation. */
  assertError(
    response: DecodedResponse,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    subject: string,
  ): ErrorResponse {
    const list = [names].flat();
    const actual = describeResponse(response);
    const evidence = { expected: list.join(' or '), actual, exchanges: [response.exchange] };
    const { error } = response;
    if (!error) throw new RuleViolationError(`${subject} was not rejected: ${actual}`, evidence);
    if (!isJsonObject(error.raw))
      throw new RuleViolationError(`${subject} was rejected without a JSON object: ${actual}`, {
        ...evidence,
        actual: response.exchange.body,
      });
    const mismatches = list.map((name) => errorMismatch(error, name, this.driver));
    if (mismatches.every((each) => each !== undefined))
      throw new RuleViolationError(
        `${subject} was rejected with the wrong error: expected ${mismatches[0]}`,
        evidence,
      );
    return error;
  }

  /** Opens a stream for a new message or an existing task and reads it. */
  async openStream(
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    { until, overrides, deadline, signal }: StreamReadOptions = {},
  ): Promise<ObservedStream> {
    if (operation === 'stream') this.context.countMessage();
    const events: NormalizedEvent[] = [];
    let error: ErrorResponse | undefined;
    const request = this.#encode(operation, input, overrides);
    const observations: Omit<Observation & { kind: 'event' }, 'exchange'>[] = [];
    const requestedAt = performance.now();
    const { driver } = this;
    const exchange = await this.sendRaw({
      ...request,
      headers: { ...(request.grpc ? {} : { accept: 'text/event-stream' }), ...request.headers },
      ...(deadline === undefined ? {} : { deadline }),
      ...(signal ? { signal } : {}),
      onFrame: (frame) => {
        if (frame.data === undefined) return false;
        const decoded = driver.decodeFrame(frame);
        error ??= decoded.error;
        if (decoded.error) return false;
        const event: NormalizedEvent = decoded.decodeError
          ? { kind: 'unknown', reason: decoded.decodeError, raw: frame.data }
          : driver.decodeEvent(decoded.event);
        const index = events.push(event) - 1;
        this.context.taskTracker.recordEvent(event);
        observations.push({ kind: 'event', driver, operation, input, frame, event, index });
        return until?.(event, index) ?? false;
      },
    });
    for (const observation of observations) {
      this.context.observe({ ...observation, exchange });
      const { event } = observation;
      if (event.kind === 'task') this.#observeTask(event.task, operation, exchange, requestedAt);
    }
    const isStream = driver.isStream(exchange);
    // The deadline of the client ends a stream before its task.
    const isExpired = exchange.grpc?.status.name === 'DEADLINE_EXCEEDED';
    const isComplete = exchange.end === 'complete' && !isExpired;
    // A stream of gRPC may end with a status that is an error.
    const response = isStream && !exchange.grpc ? undefined : driver.decode(exchange);
    error ??= response?.error;
    if (isStream)
      this.context.observe({ kind: 'stream', driver, exchange, operation, input, events, isComplete });
    else if (response) {
      this.context.observe({ kind: 'response', driver, exchange, operation, input, overrides, response });
    }
    return { exchange, events, error, isStream, isComplete };
  }

  /** Opens a stream that must contain at least one event. */
  async expectStream(
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    options?: StreamReadOptions,
  ): Promise<ObservedStream> {
    const stream = await this.openStream(operation, input, options);
    const { exchange, error, isStream } = stream;
    if (!isStream || stream.events.length === 0) {
      const actual = error
        ? describeError(error)
        : `HTTP ${exchange.status}, ${exchange.headers['content-type'] ?? 'no content type'}`;
      throw new RuleViolationError(`${operation} did not return a stream of events: ${actual}`, {
        expected: exchange.grpc ? 'a stream of messages' : 'text/event-stream with events',
        actual,
        exchanges: [exchange],
      });
    }
    return stream;
  }

  /** Sends the prompt for an outcome as a stream, which must contain at least one event. */
  streamPrompt(outcome: TargetOutcome, options?: StreamReadOptions): Promise<ObservedStream> {
    return this.expectStream('stream', { message: this.prompts.promptFor(outcome) }, options);
  }

  /**
   * Sends the prompt for an outcome and returns the task.
   *
   * @throws InconclusiveError if the agent creates no task or the task reaches another state.
   */
  async sendPrompt(outcome: TargetOutcome, input: PromptInput = {}): Promise<IdentifiedTask> {
    const draft = { ...this.prompts.promptFor(outcome), ...input.message };
    const response = await this.call('send', { ...input, message: draft });
    const task = this.driver.decodeTask(response.result);
    if (!task?.id) {
      const isMessage = this.driver.decodeMessage(response.result) !== undefined;
      throw new InconclusiveError(
        isMessage
          ? `The agent responds to "${draft.text ?? draft.messageId}" with a direct message and creates no task. Name a text that creates one in a prompts file.`
          : `No task could be created: ${describeResponse(response)}`,
      );
    }
    const goals: ReadonlySet<string> = new Set(['input-required', 'auth-required', 'failed', 'rejected']);
    const created = identify(task);
    if (!goals.has(outcome) || input.returnImmediately) return created;
    const stopped = isTerminalOrInterrupted(task)
      ? created
      : await this.waitUntilTerminalOrInterrupted(task.id);
    if (stopped.state !== outcome)
      throw new InconclusiveError(
        `The message "${draft.text ?? draft.messageId}" for "${outcome}" led to the state "${stopped.state}".`,
        { kind: 'prompt', outcome },
      );
    return stopped;
  }

  /** Starts a task that works for a while, and returns it before it ends. */
  async startSlowTask(input: Omit<OperationInput, 'message'> = {}): Promise<IdentifiedTask> {
    if (this.driver.version !== '0.1') return this.sendPrompt('slow', { returnImmediately: true, ...input });
    // In 0.1 every send blocks, so the task is started with a stream from which the suite disconnects, or with a send
    // whose response it does not wait for.
    const message = { ...this.prompts.promptFor('slow'), taskId: crypto.randomUUID() };
    if (this.capabilities.streaming === true)
      await this.expectStream('stream', { ...input, message }, { until: () => true });
    else {
      void this.call('send', { ...input, message }).catch(() => undefined);
      await this.#waitForTask(message.taskId);
    }
    return this.getTask(message.taskId);
  }

  /** Waits until a task exists, or until the deadline. */
  async #waitForTask(id: string): Promise<void> {
    const until = performance.now() + this.context.deadline;
    while (performance.now() < until && (await this.call('get', { id })).error) await sleep(systemClock, 50);
  }

  /** Sends a message and returns its task in the state completed. */
  async completeTask(input: PromptInput = {}): Promise<IdentifiedTask> {
    const task = await this.sendPrompt('completed', input);
    const ended = terminalStates.has(task.state) ? task : await this.waitUntilTerminalOrInterrupted(task.id);
    if (ended.state !== 'completed')
      throw new InconclusiveError(`No task could be completed: the task is "${ended.state}".`);
    return ended;
  }

  /** Gets a task that must exist. */
  async getTask(id: string, historyLength?: number): Promise<IdentifiedTask> {
    const result = await this.expectResult(
      'get',
      historyLength === undefined ? { id } : { id, historyLength },
    );
    const task = this.driver.decodeTask(result);
    if (!task)
      throw new RuleViolationError('get did not return a task', { exchanges: this.exchanges.slice(-1) });
    return identify(task);
  }

  /** Gets a task repeatedly, with backoff, until it matches. */
  async pollTask(id: string, matches: (task: NormalizedTask) => boolean): Promise<IdentifiedTask> {
    const until = performance.now() + this.context.deadline;
    for (let delay = 20; ; delay = Math.min(delay * 1.6, 1_000)) {
      const task = await this.getTask(id);
      if (matches(task)) return task;
      if (performance.now() + delay > until)
        throw new RuleViolationError(
          `Task ${id} was still "${task.state}" after ${this.context.deadline} ms`,
          { exchanges: this.exchanges.slice(-1) },
        );
      await sleep(systemClock, delay);
    }
  }

  waitUntilTerminalOrInterrupted(id: string): Promise<IdentifiedTask> {
    return this.pollTask(id, isTerminalOrInterrupted);
  }

  #encode(
    operation: DriverOperation,
    input: OperationInput,
    overrides: RequestOverrides | undefined,
  ): RawRequest {
    const request = this.driver.encode(operation, input, overrides);
    if (!request)
      throw new InconclusiveError(`Version ${this.driver.version} has no operation "${operation}".`);
    return request;
  }

  #observeTask(
    task: NormalizedTask,
    from: DriverOperation,
    exchange: HttpExchange,
    requestedAt: number,
  ): void {
    const { taskTracker, observe, onTask } = this.context;
    // Other operations also return tasks of others.
    if (task.id !== undefined && (from === 'send' || from === 'stream')) onTask?.(task.id);
    const known = taskTracker.get(task.id);
    // A request that was sent before the suite learned of the end may return an earlier state.
    const trackedTask = known?.endedAt !== undefined && known.endedAt > requestedAt ? undefined : known;
    observe({ kind: 'task', driver: this.driver, exchange, task, from, trackedTask });
    taskTracker.recordTask(task);
  }
}

const identify = (task: NormalizedTask): IdentifiedTask => ({ ...task, id: task.id ?? '' });

function isTerminalOrInterrupted({ state }: NormalizedTask): boolean {
  return restingStates.has(state);
}
