import type { Level } from './rule-model.ts';
import { Broken, type Evidence, Inconclusive } from './check-errors.ts';
import type { Reach, Wanted } from './prompts/prompt-catalog.ts';
import { interrupted, type Shadows, terminal } from './observation/task-tracker.ts';
import type { Sighting } from './observation/observation.ts';
import { type Fault, type FaultName, mismatch } from './drivers/error-response.ts';
import type { Asking, Draft, Heard, Manner, Operation, Speech } from './drivers/protocol-driver.ts';
import { type EventView, isObject, type Json, type TaskView } from './drivers/normalized-views.ts';
import { type Exchange, isEventStream, keepsakeOf } from './wire/http-exchange.ts';
import type { Line, RawRequest } from './wire/raw-http-client.ts';
import type { Receiver } from './wire/webhook-receiver.ts';

/** A stream that was read. */
export interface Followed {
  readonly exchange: Exchange;
  readonly events: readonly EventView[];
  /** An error that came instead of a stream, or in it. */
  readonly fault: Fault | undefined;
  /** True when it opened as a stream of events. */
  readonly isStream: boolean;
  /** True when the agent ended it, and not we or the deadline. */
  readonly isWhole: boolean;
}

/** How to read a stream. */
export interface Following {
  readonly manner?: Manner;
  /** True ends the reading with this event. */
  readonly until?: (event: EventView, index: number) => boolean;
  readonly deadline?: number;
  readonly signal?: AbortSignal;
}

/** What a run gives its probes. */
export interface ProbeTools {
  readonly line: Line;
  readonly speech: Speech;
  /** Everything that is sent beside what the version wants: credentials. */
  readonly headers: Readonly<Record<string, string>>;
  /** The credentials of somebody else, if there are any. */
  readonly otherHeaders?: Readonly<Record<string, string>>;
  /** The credentials of somebody who is known and may not send messages, if there are any. */
  readonly limitedHeaders?: Readonly<Record<string, string>>;
  readonly card: Json;
  readonly cardUrl: string;
  readonly reach: Reach;
  readonly shadows: Shadows;
  readonly receiver: Receiver;
  /** Other transports of the same version, to compare with. */
  readonly others: readonly Speech[];
  /** Milliseconds for one answer and for one task to end. */
  readonly deadline: number;
  /** Asks leave for one more message; throws `Inconclusive` when there were too many. */
  readonly spend: () => void;
  readonly see: (sighting: Sighting) => void;
}

/** What a check has to work with: one version over one transport. Whatever passes through it is looked at by all invariants. */
export class Probe {
  readonly tools: ProbeTools;
  /** The exchanges of this check, for its evidence. */
  readonly exchanges: Exchange[] = [];
  /** What was wrong without being all wrong. */
  readonly complaints: { message: string; evidence: Evidence }[] = [];

  constructor(tools: ProbeTools) {
    this.tools = tools;
  }

  get speech(): Speech {
    return this.tools.speech;
  }

  get card(): Json {
    return this.tools.card;
  }

  get capabilities(): Json {
    return isObject(this.card.capabilities) ? this.card.capabilities : {};
  }

  /** The same, over another transport of the version. */
  over(speech: Speech): Probe {
    return this.#beside({ ...this.tools, speech });
  }

  /** The same, as somebody else; an empty object is nobody. */
  as(headers: Readonly<Record<string, string>>): Probe {
    return this.#beside({ ...this.tools, headers });
  }

  #beside(tools: ProbeTools): Probe {
    const other = new Probe(tools);
    (other as { exchanges: Exchange[] }).exchanges = this.exchanges;
    return other;
  }

  /** Sends anything and looks at nothing. */
  async raw(request: RawRequest): Promise<Exchange> {
    const exchange = await this.tools.line.send({
      ...request,
      headers: { ...this.tools.headers, ...request.headers },
    });
    // Only the newest is still looked at whole.
    const before = this.exchanges.at(-1);
    if (before) this.exchanges[this.exchanges.length - 1] = keepsakeOf(before);
    this.exchanges.push(exchange);
    return exchange;
  }

  /** Asks for an operation, and gives what was answered, be it an error. */
  async ask(operation: Operation, asking: Asking, manner?: Manner): Promise<Heard> {
    if (operation === 'send' || operation === 'stream') this.tools.spend();
    const request = this.#said(operation, asking, manner);
    const askedAt = performance.now();
    const exchange = await this.raw(request);
    const heard = this.speech.hear(exchange);
    this.tools.see({ kind: 'answer', speech: this.speech, exchange, operation, asking, manner, heard });
    const isTaskAnswer = operation === 'send' || operation === 'get' || operation === 'cancel';
    const task = isTaskAnswer ? this.speech.taskOf(heard.result) : undefined;
    if (task) this.#seeTask(task, operation, exchange, askedAt);
    return heard;
  }

  /** Asks for an operation that must succeed. */
  async ok(operation: Operation, asking: Asking, manner?: Manner): Promise<unknown> {
    const heard = await this.ask(operation, asking, manner);
    if (heard.fault || heard.problem !== undefined)
      throw new Broken(`${operation} failed: ${described(heard)}`, {
        expected: 'a result',
        actual: described(heard),
        exchanges: [heard.exchange],
      });
    return heard.result;
  }

  /** Asks for an operation that must be refused with one of these errors. */
  async refused(
    operation: Operation,
    asking: Asking,
    names: FaultName | readonly FaultName[],
    manner?: Manner,
  ): Promise<Fault> {
    const heard = await this.ask(operation, asking, manner);
    return this.refusal(heard, names, operation);
  }

  /** Expects an answer to be one of these errors. */
  refusal(heard: Heard, names: FaultName | readonly FaultName[], what: string): Fault {
    const list = [names].flat();
    const evidence = { expected: list.join(' or '), exchanges: [heard.exchange] };
    if (!heard.fault)
      throw new Broken(`${what} was not refused: ${described(heard)}`, {
        ...evidence,
        actual: described(heard),
      });
    const { fault } = heard;
    if (!isObject(fault.raw))
      throw new Broken(`${what} was refused with something that is no JSON object: ${described(heard)}`, {
        ...evidence,
        actual: heard.exchange.body.slice(0, 120),
      });
    const wrong = list.map((name) => mismatch(fault, name, this.speech.transport));
    if (wrong.every((each) => each !== undefined))
      throw new Broken(`${what} was refused with the wrong error: expected ${wrong[0]}`, {
        ...evidence,
        actual: described(heard),
      });
    return fault;
  }

  /** Sends a message and follows what comes of it, or follows a task. */
  async follow(
    operation: 'stream' | 'subscribe',
    asking: Asking,
    following: Following = {},
  ): Promise<Followed> {
    if (operation === 'stream') this.tools.spend();
    const events: EventView[] = [];
    let fault: Fault | undefined;
    const { until, manner, deadline, signal } = following;
    const request = this.#said(operation, asking, manner);
    const seen: Sighting[] = [];
    const askedAt = performance.now();
    const exchange = await this.raw({
      ...request,
      headers: { accept: 'text/event-stream', ...request.headers },
      ...(deadline === undefined ? {} : { deadline }),
      ...(signal ? { signal } : {}),
      onFrame: (frame) => {
        if (frame.data === undefined) return false;
        const heard = this.speech.hearFrame(frame, { frames: [] });
        fault ??= heard.fault;
        if (heard.fault) return false;
        const event: EventView = heard.problem
          ? { kind: 'unknown', why: heard.problem, raw: frame.data }
          : this.speech.eventOf(heard.event);
        const index = events.push(event) - 1;
        this.tools.shadows.follow(event);
        seen.push({
          kind: 'event',
          speech: this.speech,
          exchange: empty,
          operation,
          asking,
          frame,
          event,
          index,
        });
        return until?.(event, index) ?? false;
      },
    });
    for (const sighting of seen)
      this.#seeEvent({ ...sighting, exchange } as Sighting & { kind: 'event' }, askedAt);
    const isStream = isEventStream(exchange);
    const isWhole = exchange.end === 'complete';
    if (isStream)
      this.tools.see({ kind: 'stream', speech: this.speech, exchange, operation, asking, events, isWhole });
    else {
      const heard = this.speech.hear(exchange);
      fault ??= heard.fault;
      this.tools.see({ kind: 'answer', speech: this.speech, exchange, operation, asking, manner, heard });
    }
    return { exchange, events, fault, isStream, isWhole };
  }

  /** Follows something that must be a stream. */
  async followed(
    operation: 'stream' | 'subscribe',
    asking: Asking,
    following?: Following,
  ): Promise<Followed> {
    const followed = await this.follow(operation, asking, following);
    const { exchange, fault, isStream } = followed;
    if (!isStream || followed.events.length === 0) {
      const actual = fault
        ? faultText(fault)
        : `HTTP ${exchange.status}, ${exchange.headers['content-type'] ?? 'no type'}`;
      throw new Broken(`${operation} gave no stream of events: ${actual}`, {
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
  async reach(want: Wanted, asking: Omit<Asking, 'message'> & { message?: Draft } = {}): Promise<TaskView> {
    const draft = { ...this.tools.reach.to(want), ...asking.message };
    const heard = await this.ask('send', { ...asking, message: draft });
    const task = this.speech.taskOf(heard.result);
    if (!task?.id) {
      const isMessage = this.speech.messageOf(heard.result) !== undefined;
      throw new Inconclusive(
        isMessage
          ? `The agent answers "${draft.text ?? draft.messageId}" with a message and makes no task; name a text that makes one in a scenario file.`
          : `No task could be made: ${described(heard)}`,
      );
    }
    const goals: Partial<Record<Wanted, string>> = {
      'input-required': 'input-required',
      'auth-required': 'auth-required',
      failed: 'failed',
      rejected: 'rejected',
    };
    const goal = goals[want];
    if (goal === undefined || asking.returnImmediately) return task;
    const rested = terminal.has(task.state) || interrupted.has(task.state) ? task : await this.rest(task.id);
    if (rested.state !== goal)
      throw new Inconclusive(
        `The message for "${want}" led to "${rested.state}", so this could not be tried.`,
      );
    return rested;
  }

  /** A task that is at work and will be for a while. */
  async slow(asking: Omit<Asking, 'message'> = {}): Promise<TaskView> {
    if (this.speech.version !== '0.1') return this.reach('slow', { returnImmediately: true, ...asking });
    // In 0.1 every send waits, so the task is begun with a stream that is left.
    if (this.capabilities.streaming !== true)
      throw new Inconclusive('In 0.1 a task at work is seen in streams only, and this agent has none.');
    const message = { ...this.tools.reach.to('slow'), taskId: crypto.randomUUID() };
    await this.followed('stream', { ...asking, message }, { until: () => true });
    return this.get(message.taskId);
  }

  /** A task that has ended well. */
  async completed(asking: Omit<Asking, 'message'> & { message?: Draft } = {}): Promise<TaskView> {
    const task = await this.reach('completed', asking);
    const rested = terminal.has(task.state) || task.id === undefined ? task : await this.rest(task.id);
    if (rested.state !== 'completed')
      throw new Inconclusive(`No task could be completed: "${rested.state}" was the best.`);
    return rested;
  }

  /** Asks for a task that must be there. */
  async get(id: string, historyLength?: number): Promise<TaskView> {
    const result = await this.ok('get', historyLength === undefined ? { id } : { id, historyLength });
    const task = this.speech.taskOf(result);
    if (!task)
      throw new Broken('get gave something that is no task', { exchanges: this.exchanges.slice(-1) });
    return task;
  }

  /** Asks for a task again and again until it is as wanted. */
  async poll(id: string, isThere: (task: TaskView) => boolean): Promise<TaskView> {
    const until = performance.now() + this.tools.deadline;
    for (let wait = 20; ; wait = Math.min(wait * 1.6, 1_000)) {
      const task = await this.get(id);
      if (isThere(task)) return task;
      if (performance.now() + wait > until)
        throw new Broken(`Task ${id} was still "${task.state}" after ${this.tools.deadline} ms`, {
          exchanges: this.exchanges.slice(-1),
        });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }

  /** Waits until a task has ended or waits for its caller. */
  rest(id: string): Promise<TaskView> {
    return this.poll(id, ({ state }) => terminal.has(state) || interrupted.has(state));
  }

  /** Says that a rule is broken unless something holds. */
  expect(holds: unknown, message: string, evidence: Evidence = {}): void {
    if (!holds) throw new Broken(message, { exchanges: this.exchanges.slice(-1), ...evidence });
  }

  /** Notes what is wrong and goes on. */
  complain(message: string, evidence: Evidence = {}): void {
    this.complaints.push({ message, evidence: { exchanges: this.exchanges.slice(-1), ...evidence } });
  }

  #said(operation: Operation, asking: Asking, manner: Manner | undefined): RawRequest {
    const request = this.speech.say(operation, asking, manner);
    if (!request) throw new Inconclusive(`${this.speech.version} has no word for ${operation}.`);
    return request;
  }

  #seeTask(task: TaskView, from: Operation, exchange: Exchange, askedAt: number): void {
    const { shadows, see } = this.tools;
    const known = shadows.of(task.id);
    // What was under way before we learned of the end may tell of the time before it.
    const shadow = known?.endedAt !== undefined && known.endedAt > askedAt ? undefined : known;
    see({ kind: 'task', speech: this.speech, exchange, task, from, shadow });
    shadows.see(task);
  }

  #seeEvent(sighting: Sighting & { kind: 'event' }, askedAt: number): void {
    this.tools.see(sighting);
    const { event, exchange, operation } = sighting;
    if (event.kind === 'task') this.#seeTask(event.task, operation, exchange, askedAt);
  }
}

/** The verdict that breaking a rule of a level leads to. */
export function verdictOf(level: Level): 'fail' | 'warn' {
  return level === 'MUST' ? 'fail' : 'warn';
}

const empty = {} as Exchange;

/** An answer in a few words. */
export function described({ fault, problem, result }: Heard): string {
  if (fault) return faultText(fault);
  if (problem !== undefined) return problem;
  return JSON.stringify(result)?.slice(0, 200) ?? 'nothing';
}

function faultText({ code, httpStatus, message, reason }: Fault): string {
  const what = [code === undefined ? `HTTP ${httpStatus}` : `error ${code}`, reason]
    .filter(Boolean)
    .join(' ');
  return message === '' ? what : `${what}: ${message.slice(0, 160)}`;
}
