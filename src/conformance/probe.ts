import type { RequirementLevel } from './rule-model.ts';
import { RuleViolationError, type Evidence, InconclusiveError } from './check-errors.ts';
import type { PromptCatalog, TargetOutcome } from './prompts/prompt-catalog.ts';
import { interruptedStates, type TaskTracker, terminalStates } from './observation/task-tracker.ts';
import type { Observation } from './observation/observation.ts';
import { type ErrorResponse, type ProtocolErrorName, errorMismatch } from './drivers/error-response.ts';
import type {
  OperationInput,
  MessageDraft,
  DecodedResponse,
  RequestOverrides,
  DriverOperation,
  ProtocolDriver,
} from './drivers/protocol-driver.ts';
import {
  type NormalizedEvent,
  isJsonObject,
  type JsonObject,
  type NormalizedTask,
} from './drivers/normalized-views.ts';
import { type HttpExchange, isEventStream, toEvidence } from './wire/http-exchange.ts';
import type { RawHttpClient, RawRequest } from './wire/raw-http-client.ts';
import type { WebhookReceiver } from './wire/webhook-receiver.ts';

/** A stream that was read. */
export interface ObservedStream {
  readonly exchange: HttpExchange;
  readonly events: readonly NormalizedEvent[];
  /** An error that came instead of a stream, or in it. */
  readonly error: ErrorResponse | undefined;
  /** True when it opened as a stream of events. */
  readonly isStream: boolean;
  /** True when the agent ended it, and not we or the deadline. */
  readonly isComplete: boolean;
}

/** How to read a stream. */
export interface StreamReadOptions {
  readonly overrides?: RequestOverrides;
  /** True ends the reading with this event. */
  readonly until?: (event: NormalizedEvent, index: number) => boolean;
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** What a run gives its probes. */
export interface ProbeContext {
  readonly http: RawHttpClient;
  readonly driver: ProtocolDriver;
  /** Everything that is sent beside what the version wants: credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credentials of somebody else, if there are any. */
  readonly otherUserHeaders?: Readonly<Record<string, string>>;
  /** The credentials of somebody who is known and may not send messages, if there are any. */
  readonly restrictedUserHeaders?: Readonly<Record<string, string>>;
  readonly card: JsonObject;
  readonly cardUrl: string;
  readonly prompts: PromptCatalog;
  readonly taskTracker: TaskTracker;
  readonly receiver: WebhookReceiver;
  /** Other transports of the same version, to compare with. */
  readonly siblings: readonly ProtocolDriver[];
  /** Milliseconds for one answer and for one task to end. */
  readonly deadline: number;
  /** Asks leave for one more message; throws `Inconclusive` when there were too many. */
  readonly countMessage: () => void;
  readonly observe: (observation: Observation) => void;
}

/** What a check has to work with: one version over one transport. Whatever passes through it is looked at by all invariants. */
export class Probe {
  readonly context: ProbeContext;
  /** The exchanges of this check, for its evidence. */
  readonly exchanges: HttpExchange[] = [];
  /** What was wrong without being all wrong. */
  readonly warnings: { message: string; evidence: Evidence }[] = [];

  constructor(context: ProbeContext) {
    this.context = context;
  }

  get driver(): ProtocolDriver {
    return this.context.driver;
  }

  get card(): JsonObject {
    return this.context.card;
  }

  get capabilities(): JsonObject {
    return isJsonObject(this.card.capabilities) ? this.card.capabilities : {};
  }

  /** The same, over another transport of the version. */
  withDriver(driver: ProtocolDriver): Probe {
    return this.#beside({ ...this.context, driver });
  }

  /** The same, as somebody else; an empty object is nobody. */
  withCredentials(headers: Readonly<Record<string, string>>): Probe {
    return this.#beside({ ...this.context, headers });
  }

  #beside(context: ProbeContext): Probe {
    const other = new Probe(context);
    (other as { exchanges: HttpExchange[] }).exchanges = this.exchanges;
    return other;
  }

  /** Sends anything and looks at nothing. */
  async sendRaw(request: RawRequest): Promise<HttpExchange> {
    const exchange = await this.context.http.send({
      ...request,
      headers: { ...this.context.headers, ...request.headers },
    });
    // Only the newest is still looked at whole.
    const before = this.exchanges.at(-1);
    if (before) this.exchanges[this.exchanges.length - 1] = toEvidence(before);
    this.exchanges.push(exchange);
    return exchange;
  }

  /** Asks for an operation, and gives what was answered, be it an error. */
  async call(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): Promise<DecodedResponse> {
    if (operation === 'send' || operation === 'stream') this.context.countMessage();
    const request = this.#said(operation, input, overrides);
    const askedAt = performance.now();
    const exchange = await this.sendRaw(request);
    const response = this.driver.decode(exchange);
    this.context.observe({
      kind: 'response',
      driver: this.driver,
      exchange,
      operation,
      input,
      overrides,
      response,
    });
    const isTaskAnswer = operation === 'send' || operation === 'get' || operation === 'cancel';
    const task = isTaskAnswer ? this.driver.decodeTask(response.result) : undefined;
    if (task) this.#seeTask(task, operation, exchange, askedAt);
    return response;
  }

  /** Asks for an operation that must succeed. */
  async expectResult(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): Promise<unknown> {
    const response = await this.call(operation, input, overrides);
    if (response.error || response.decodeError !== undefined)
      throw new RuleViolationError(`${operation} failed: ${describeResponse(response)}`, {
        expected: 'a result',
        actual: describeResponse(response),
        exchanges: [response.exchange],
      });
    return response.result;
  }

  /** Asks for an operation that must be refused with one of these errors. */
  async expectError(
    operation: DriverOperation,
    input: OperationInput,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    overrides?: RequestOverrides,
  ): Promise<ErrorResponse> {
    const response = await this.call(operation, input, overrides);
    return this.assertError(response, names, operation);
  }

  /** Expects an answer to be one of these errors. */
  assertError(
    response: DecodedResponse,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    what: string,
  ): ErrorResponse {
    const list = [names].flat();
    const evidence = { expected: list.join(' or '), exchanges: [response.exchange] };
    if (!response.error)
      throw new RuleViolationError(`${what} was not refused: ${describeResponse(response)}`, {
        ...evidence,
        actual: describeResponse(response),
      });
    const { error } = response;
    if (!isJsonObject(error.raw))
      throw new RuleViolationError(
        `${what} was refused with something that is no JSON object: ${describeResponse(response)}`,
        {
          ...evidence,
          actual: response.exchange.body.slice(0, 120),
        },
      );
    const wrong = list.map((name) => errorMismatch(error, name, this.driver.transport));
    if (wrong.every((each) => each !== undefined))
      throw new RuleViolationError(`${what} was refused with the wrong error: expected ${wrong[0]}`, {
        ...evidence,
        actual: describeResponse(response),
      });
    return error;
  }

  /** Sends a message and follows what comes of it, or follows a task. */
  async openStream(
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    following: StreamReadOptions = {},
  ): Promise<ObservedStream> {
    if (operation === 'stream') this.context.countMessage();
    const events: NormalizedEvent[] = [];
    let error: ErrorResponse | undefined;
    const { until, overrides, deadline, signal } = following;
    const request = this.#said(operation, input, overrides);
    const seen: Observation[] = [];
    const askedAt = performance.now();
    const exchange = await this.sendRaw({
      ...request,
      headers: { accept: 'text/event-stream', ...request.headers },
      ...(deadline === undefined ? {} : { deadline }),
      ...(signal ? { signal } : {}),
      onFrame: (frame) => {
        if (frame.data === undefined) return false;
        const response = this.driver.decodeFrame(frame, { frames: [] });
        error ??= response.error;
        if (response.error) return false;
        const event: NormalizedEvent = response.problem
          ? { kind: 'unknown', why: response.problem, raw: frame.data }
          : this.driver.decodeEvent(response.event);
        const index = events.push(event) - 1;
        this.context.taskTracker.recordEvent(event);
        seen.push({
          kind: 'event',
          driver: this.driver,
          exchange: empty,
          operation,
          input,
          frame,
          event,
          index,
        });
        return until?.(event, index) ?? false;
      },
    });
    for (const observation of seen)
      this.#seeEvent({ ...observation, exchange } as Observation & { kind: 'event' }, askedAt);
    const isStream = isEventStream(exchange);
    const isComplete = exchange.end === 'complete';
    if (isStream)
      this.context.observe({
        kind: 'stream',
        driver: this.driver,
        exchange,
        operation,
        input,
        events,
        isComplete,
      });
    else {
      const response = this.driver.decode(exchange);
      error ??= response.error;
      this.context.observe({
        kind: 'response',
        driver: this.driver,
        exchange,
        operation,
        input,
        overrides,
        response,
      });
    }
    return { exchange, events, error, isStream, isComplete };
  }

  /** Follows something that must be a stream. */
  async expectStream(
    operation: 'stream' | 'subscribe',
    input: OperationInput,
    following?: StreamReadOptions,
  ): Promise<ObservedStream> {
    const followed = await this.openStream(operation, input, following);
    const { exchange, error, isStream } = followed;
    if (!isStream || followed.events.length === 0) {
      const actual = error
        ? faultText(error)
        : `HTTP ${exchange.status}, ${exchange.headers['content-type'] ?? 'no type'}`;
      throw new RuleViolationError(`${operation} gave no stream of events: ${actual}`, {
        expected: 'text/event-stream with events',
        actual,
        exchanges: [exchange],
      });
    }
    return followed;
  }

  /**
   * Sends a message that leads somewhere, and gives the task as it was answered.
   *
   * @throws Inconclusive when it leads elsewhere: then nothing can be said about the rule.
   */
  async sendPrompt(
    want: TargetOutcome,
    input: Omit<OperationInput, 'message'> & { message?: MessageDraft } = {},
  ): Promise<NormalizedTask> {
    const draft = { ...this.context.prompts.promptFor(want), ...input.message };
    const response = await this.call('send', { ...input, message: draft });
    const task = this.driver.decodeTask(response.result);
    if (!task?.id) {
      const isMessage = this.driver.decodeMessage(response.result) !== undefined;
      throw new InconclusiveError(
        isMessage
          ? `The agent answers "${draft.text ?? draft.messageId}" with a message and makes no task; name a text that makes one in a scenario file.`
          : `No task could be made: ${describeResponse(response)}`,
      );
    }
    const goals: Partial<Record<TargetOutcome, string>> = {
      'input-required': 'input-required',
      'auth-required': 'auth-required',
      failed: 'failed',
      rejected: 'rejected',
    };
    const goal = goals[want];
    if (goal === undefined || input.returnImmediately) return task;
    const rested =
      terminalStates.has(task.state) || interruptedStates.has(task.state)
        ? task
        : await this.waitUntilTerminalOrInterrupted(task.id);
    if (rested.state !== goal)
      throw new InconclusiveError(
        `The message for "${want}" led to "${rested.state}", so this could not be tried.`,
      );
    return rested;
  }

  /** A task that is at work and will be for a while. */
  async startSlowTask(input: Omit<OperationInput, 'message'> = {}): Promise<NormalizedTask> {
    if (this.driver.version !== '0.1') return this.sendPrompt('slow', { returnImmediately: true, ...input });
    // In 0.1 every send waits, so the task is begun with a stream that is left.
    if (this.capabilities.streaming !== true)
      throw new InconclusiveError('In 0.1 a task at work is seen in streams only, and this agent has none.');
    const message = { ...this.context.prompts.promptFor('slow'), taskId: crypto.randomUUID() };
    await this.expectStream('stream', { ...input, message }, { until: () => true });
    return this.getTask(message.taskId);
  }

  /** A task that has ended well. */
  async completeTask(
    input: Omit<OperationInput, 'message'> & { message?: MessageDraft } = {},
  ): Promise<NormalizedTask> {
    const task = await this.sendPrompt('completed', input);
    const rested =
      terminalStates.has(task.state) || task.id === undefined
        ? task
        : await this.waitUntilTerminalOrInterrupted(task.id);
    if (rested.state !== 'completed')
      throw new InconclusiveError(`No task could be completed: "${rested.state}" was the best.`);
    return rested;
  }

  /** Asks for a task that must be there. */
  async getTask(id: string, historyLength?: number): Promise<NormalizedTask> {
    const result = await this.expectResult(
      'get',
      historyLength === undefined ? { id } : { id, historyLength },
    );
    const task = this.driver.decodeTask(result);
    if (!task)
      throw new RuleViolationError('get gave something that is no task', {
        exchanges: this.exchanges.slice(-1),
      });
    return task;
  }

  /** Asks for a task again and again until it is as wanted. */
  async pollTask(id: string, isThere: (task: NormalizedTask) => boolean): Promise<NormalizedTask> {
    const until = performance.now() + this.context.deadline;
    for (let wait = 20; ; wait = Math.min(wait * 1.6, 1_000)) {
      const task = await this.getTask(id);
      if (isThere(task)) return task;
      if (performance.now() + wait > until)
        throw new RuleViolationError(
          `Task ${id} was still "${task.state}" after ${this.context.deadline} ms`,
          {
            exchanges: this.exchanges.slice(-1),
          },
        );
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Waits until a task has ended or waits for its caller. */
  waitUntilTerminalOrInterrupted(id: string): Promise<NormalizedTask> {
    return this.pollTask(id, ({ state }) => terminalStates.has(state) || interruptedStates.has(state));
  }

  /** Says that a rule is broken unless something holds. */
  expect(holds: unknown, message: string, evidence: Evidence = {}): void {
    if (!holds) throw new RuleViolationError(message, { exchanges: this.exchanges.slice(-1), ...evidence });
  }

  /** Notes what is wrong and goes on. */
  warn(message: string, evidence: Evidence = {}): void {
    this.warnings.push({ message, evidence: { exchanges: this.exchanges.slice(-1), ...evidence } });
  }

  #said(
    operation: DriverOperation,
    input: OperationInput,
    overrides: RequestOverrides | undefined,
  ): RawRequest {
    const request = this.driver.encode(operation, input, overrides);
    if (!request) throw new InconclusiveError(`${this.driver.version} has no word for ${operation}.`);
    return request;
  }

  #seeTask(task: NormalizedTask, from: DriverOperation, exchange: HttpExchange, askedAt: number): void {
    const { taskTracker, observe } = this.context;
    const known = taskTracker.get(task.id);
    // What was under way before we learned of the end may tell of the time before it.
    const trackedTask = known?.endedAt !== undefined && known.endedAt > askedAt ? undefined : known;
    observe({ kind: 'task', driver: this.driver, exchange, task, from, trackedTask });
    taskTracker.recordTask(task);
  }

  #seeEvent(observation: Observation & { kind: 'event' }, askedAt: number): void {
    this.context.observe(observation);
    const { event, exchange, operation } = observation;
    if (event.kind === 'task') this.#seeTask(event.task, operation, exchange, askedAt);
  }
}

/** The verdict that breaking a rule of a level leads to. */
export function verdictForLevel(level: RequirementLevel): 'fail' | 'warn' {
  return level === 'MUST' ? 'fail' : 'warn';
}

const empty = {} as HttpExchange;

/** An answer in a few words. */
export function describeResponse({ error, decodeError: problem, result }: DecodedResponse): string {
  if (error) return faultText(error);
  if (problem !== undefined) return problem;
  return JSON.stringify(result)?.slice(0, 200) ?? 'nothing';
}

function faultText({ code, httpStatus, message, reason }: ErrorResponse): string {
  const what = [code === undefined ? `HTTP ${httpStatus}` : `error ${code}`, reason]
    .filter(Boolean)
    .join(' ');
  return message === '' ? what : `${what}: ${message.slice(0, 160)}`;
}
