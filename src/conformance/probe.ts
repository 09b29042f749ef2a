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
  readonly fault: ErrorResponse | undefined;
  /** True when it opened as a stream of events. */
  readonly isStream: boolean;
  /** True when the agent ended it, and not we or the deadline. */
  readonly isWhole: boolean;
}

/** How to read a stream. */
export interface StreamReadOptions {
  readonly manner?: RequestOverrides;
  /** True ends the reading with this event. */
  readonly until?: (event: NormalizedEvent, index: number) => boolean;
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** What a run gives its probes. */
export interface ProbeContext {
  readonly line: RawHttpClient;
  readonly speech: ProtocolDriver;
  /** Everything that is sent beside what the version wants: credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credentials of somebody else, if there are any. */
  readonly otherHeaders?: Readonly<Record<string, string>>;
  /** The credentials of somebody who is known and may not send messages, if there are any. */
  readonly limitedHeaders?: Readonly<Record<string, string>>;
  readonly card: JsonObject;
  readonly cardUrl: string;
  readonly reach: PromptCatalog;
  readonly shadows: TaskTracker;
  readonly receiver: WebhookReceiver;
  /** Other transports of the same version, to compare with. */
  readonly others: readonly ProtocolDriver[];
  /** Milliseconds for one answer and for one task to end. */
  readonly deadline: number;
  /** Asks leave for one more message; throws `Inconclusive` when there were too many. */
  readonly spend: () => void;
  readonly see: (sighting: Observation) => void;
}

/** What a check has to work with: one version over one transport. Whatever passes through it is looked at by all invariants. */
export class Probe {
  readonly context: ProbeContext;
  /** The exchanges of this check, for its evidence. */
  readonly exchanges: HttpExchange[] = [];
  /** What was wrong without being all wrong. */
  readonly complaints: { message: string; evidence: Evidence }[] = [];

  constructor(tools: ProbeContext) {
    this.context = tools;
  }

  get driver(): ProtocolDriver {
    return this.context.speech;
  }

  get card(): JsonObject {
    return this.context.card;
  }

  get capabilities(): JsonObject {
    return isJsonObject(this.card.capabilities) ? this.card.capabilities : {};
  }

  /** The same, over another transport of the version. */
  withDriver(speech: ProtocolDriver): Probe {
    return this.#beside({ ...this.context, speech });
  }

  /** The same, as somebody else; an empty object is nobody. */
  withCredentials(headers: Readonly<Record<string, string>>): Probe {
    return this.#beside({ ...this.context, headers });
  }

  #beside(tools: ProbeContext): Probe {
    const other = new Probe(tools);
    (other as { exchanges: HttpExchange[] }).exchanges = this.exchanges;
    return other;
  }

  /** Sends anything and looks at nothing. */
  async raw(request: RawRequest): Promise<HttpExchange> {
    const exchange = await this.context.line.send({
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
  async ask(
    operation: DriverOperation,
    asking: OperationInput,
    manner?: RequestOverrides,
  ): Promise<DecodedResponse> {
    if (operation === 'send' || operation === 'stream') this.context.spend();
    const request = this.#said(operation, asking, manner);
    const askedAt = performance.now();
    const exchange = await this.raw(request);
    const heard = this.driver.decode(exchange);
    this.context.see({
      kind: 'response',
      driver: this.driver,
      exchange,
      operation,
      input: asking,
      overrides: manner,
      response: heard,
    });
    const isTaskAnswer = operation === 'send' || operation === 'get' || operation === 'cancel';
    const task = isTaskAnswer ? this.driver.taskOf(heard.result) : undefined;
    if (task) this.#seeTask(task, operation, exchange, askedAt);
    return heard;
  }

  /** Asks for an operation that must succeed. */
  async ok(operation: DriverOperation, asking: OperationInput, manner?: RequestOverrides): Promise<unknown> {
    const heard = await this.ask(operation, asking, manner);
    if (heard.fault || heard.problem !== undefined)
      throw new RuleViolationError(`${operation} failed: ${describeResponse(heard)}`, {
        expected: 'a result',
        actual: describeResponse(heard),
        exchanges: [heard.exchange],
      });
    return heard.result;
  }

  /** Asks for an operation that must be refused with one of these errors. */
  async refused(
    operation: DriverOperation,
    asking: OperationInput,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    manner?: RequestOverrides,
  ): Promise<ErrorResponse> {
    const heard = await this.ask(operation, asking, manner);
    return this.refusal(heard, names, operation);
  }

  /** Expects an answer to be one of these errors. */
  refusal(
    heard: DecodedResponse,
    names: ProtocolErrorName | readonly ProtocolErrorName[],
    what: string,
  ): ErrorResponse {
    const list = [names].flat();
    const evidence = { expected: list.join(' or '), exchanges: [heard.exchange] };
    if (!heard.fault)
      throw new RuleViolationError(`${what} was not refused: ${describeResponse(heard)}`, {
        ...evidence,
        actual: describeResponse(heard),
      });
    const { fault } = heard;
    if (!isJsonObject(fault.raw))
      throw new RuleViolationError(
        `${what} was refused with something that is no JSON object: ${describeResponse(heard)}`,
        {
          ...evidence,
          actual: heard.exchange.body.slice(0, 120),
        },
      );
    const wrong = list.map((name) => errorMismatch(fault, name, this.driver.transport));
    if (wrong.every((each) => each !== undefined))
      throw new RuleViolationError(`${what} was refused with the wrong error: expected ${wrong[0]}`, {
        ...evidence,
        actual: describeResponse(heard),
      });
    return fault;
  }

  /** Sends a message and follows what comes of it, or follows a task. */
  async follow(
    operation: 'stream' | 'subscribe',
    asking: OperationInput,
    following: StreamReadOptions = {},
  ): Promise<ObservedStream> {
    if (operation === 'stream') this.context.spend();
    const events: NormalizedEvent[] = [];
    let fault: ErrorResponse | undefined;
    const { until, manner, deadline, signal } = following;
    const request = this.#said(operation, asking, manner);
    const seen: Observation[] = [];
    const askedAt = performance.now();
    const exchange = await this.raw({
      ...request,
      headers: { accept: 'text/event-stream', ...request.headers },
      ...(deadline === undefined ? {} : { deadline }),
      ...(signal ? { signal } : {}),
      onFrame: (frame) => {
        if (frame.data === undefined) return false;
        const heard = this.driver.decodeFrame(frame, { frames: [] });
        fault ??= heard.fault;
        if (heard.fault) return false;
        const event: NormalizedEvent = heard.problem
          ? { kind: 'unknown', why: heard.problem, raw: frame.data }
          : this.driver.eventOf(heard.event);
        const index = events.push(event) - 1;
        this.context.shadows.recordEvent(event);
        seen.push({
          kind: 'event',
          driver: this.driver,
          exchange: empty,
          operation,
          input: asking,
          frame,
          event,
          index,
        });
        return until?.(event, index) ?? false;
      },
    });
    for (const sighting of seen)
      this.#seeEvent({ ...sighting, exchange } as Observation & { kind: 'event' }, askedAt);
    const isStream = isEventStream(exchange);
    const isWhole = exchange.end === 'complete';
    if (isStream)
      this.context.see({
        kind: 'stream',
        driver: this.driver,
        exchange,
        operation,
        input: asking,
        events,
        isComplete: isWhole,
      });
    else {
      const heard = this.driver.decode(exchange);
      fault ??= heard.fault;
      this.context.see({
        kind: 'response',
        driver: this.driver,
        exchange,
        operation,
        input: asking,
        overrides: manner,
        response: heard,
      });
    }
    return { exchange, events, fault, isStream, isWhole };
  }

  /** Follows something that must be a stream. */
  async followed(
    operation: 'stream' | 'subscribe',
    asking: OperationInput,
    following?: StreamReadOptions,
  ): Promise<ObservedStream> {
    const followed = await this.follow(operation, asking, following);
    const { exchange, fault, isStream } = followed;
    if (!isStream || followed.events.length === 0) {
      const actual = fault
        ? faultText(fault)
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
  async reach(
    want: TargetOutcome,
    asking: Omit<OperationInput, 'message'> & { message?: MessageDraft } = {},
  ): Promise<NormalizedTask> {
    const draft = { ...this.context.reach.promptFor(want), ...asking.message };
    const heard = await this.ask('send', { ...asking, message: draft });
    const task = this.driver.taskOf(heard.result);
    if (!task?.id) {
      const isMessage = this.driver.messageOf(heard.result) !== undefined;
      throw new InconclusiveError(
        isMessage
          ? `The agent answers "${draft.text ?? draft.messageId}" with a message and makes no task; name a text that makes one in a scenario file.`
          : `No task could be made: ${describeResponse(heard)}`,
      );
    }
    const goals: Partial<Record<TargetOutcome, string>> = {
      'input-required': 'input-required',
      'auth-required': 'auth-required',
      failed: 'failed',
      rejected: 'rejected',
    };
    const goal = goals[want];
    if (goal === undefined || asking.returnImmediately) return task;
    const rested =
      terminalStates.has(task.state) || interruptedStates.has(task.state) ? task : await this.rest(task.id);
    if (rested.state !== goal)
      throw new InconclusiveError(
        `The message for "${want}" led to "${rested.state}", so this could not be tried.`,
      );
    return rested;
  }

  /** A task that is at work and will be for a while. */
  async slow(asking: Omit<OperationInput, 'message'> = {}): Promise<NormalizedTask> {
    if (this.driver.version !== '0.1') return this.reach('slow', { returnImmediately: true, ...asking });
    // In 0.1 every send waits, so the task is begun with a stream that is left.
    if (this.capabilities.streaming !== true)
      throw new InconclusiveError('In 0.1 a task at work is seen in streams only, and this agent has none.');
    const message = { ...this.context.reach.promptFor('slow'), taskId: crypto.randomUUID() };
    await this.followed('stream', { ...asking, message }, { until: () => true });
    return this.get(message.taskId);
  }

  /** A task that has ended well. */
  async completed(
    asking: Omit<OperationInput, 'message'> & { message?: MessageDraft } = {},
  ): Promise<NormalizedTask> {
    const task = await this.reach('completed', asking);
    const rested = terminalStates.has(task.state) || task.id === undefined ? task : await this.rest(task.id);
    if (rested.state !== 'completed')
      throw new InconclusiveError(`No task could be completed: "${rested.state}" was the best.`);
    return rested;
  }

  /** Asks for a task that must be there. */
  async get(id: string, historyLength?: number): Promise<NormalizedTask> {
    const result = await this.ok('get', historyLength === undefined ? { id } : { id, historyLength });
    const task = this.driver.taskOf(result);
    if (!task)
      throw new RuleViolationError('get gave something that is no task', {
        exchanges: this.exchanges.slice(-1),
      });
    return task;
  }

  /** Asks for a task again and again until it is as wanted. */
  async poll(id: string, isThere: (task: NormalizedTask) => boolean): Promise<NormalizedTask> {
    const until = performance.now() + this.context.deadline;
    for (let wait = 20; ; wait = Math.min(wait * 1.6, 1_000)) {
      const task = await this.get(id);
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
  rest(id: string): Promise<NormalizedTask> {
    return this.poll(id, ({ state }) => terminalStates.has(state) || interruptedStates.has(state));
  }

  /** Says that a rule is broken unless something holds. */
  expect(holds: unknown, message: string, evidence: Evidence = {}): void {
    if (!holds) throw new RuleViolationError(message, { exchanges: this.exchanges.slice(-1), ...evidence });
  }

  /** Notes what is wrong and goes on. */
  warn(message: string, evidence: Evidence = {}): void {
    this.complaints.push({ message, evidence: { exchanges: this.exchanges.slice(-1), ...evidence } });
  }

  #said(
    operation: DriverOperation,
    asking: OperationInput,
    manner: RequestOverrides | undefined,
  ): RawRequest {
    const request = this.driver.encode(operation, asking, manner);
    if (!request) throw new InconclusiveError(`${this.driver.version} has no word for ${operation}.`);
    return request;
  }

  #seeTask(task: NormalizedTask, from: DriverOperation, exchange: HttpExchange, askedAt: number): void {
    const { shadows, see } = this.context;
    const known = shadows.get(task.id);
    // What was under way before we learned of the end may tell of the time before it.
    const shadow = known?.endedAt !== undefined && known.endedAt > askedAt ? undefined : known;
    see({ kind: 'task', driver: this.driver, exchange, task, from, trackedTask: shadow });
    shadows.recordTask(task);
  }

  #seeEvent(sighting: Observation & { kind: 'event' }, askedAt: number): void {
    this.context.see(sighting);
    const { event, exchange, operation } = sighting;
    if (event.kind === 'task') this.#seeTask(event.task, operation, exchange, askedAt);
  }
}

/** The verdict that breaking a rule of a level leads to. */
export function verdictForLevel(level: RequirementLevel): 'fail' | 'warn' {
  return level === 'MUST' ? 'fail' : 'warn';
}

const empty = {} as HttpExchange;

/** An answer in a few words. */
export function describeResponse({ fault, problem, result }: DecodedResponse): string {
  if (fault) return faultText(fault);
  if (problem !== undefined) return problem;
  return JSON.stringify(result)?.slice(0, 200) ?? 'nothing';
}

function faultText({ code, httpStatus, message, reason }: ErrorResponse): string {
  const what = [code === undefined ? `HTTP ${httpStatus}` : `error ${code}`, reason]
    .filter(Boolean)
    .join(' ');
  return message === '' ? what : `${what}: ${message.slice(0, 160)}`;
}
