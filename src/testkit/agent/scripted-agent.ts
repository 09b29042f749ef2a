import { buildCard } from '../../engine/build-card.ts';
import type { ProcessContext } from '../../engine/process-context.ts';
import { MessageValidator } from '../../engine/messages/validate-message.ts';
import { defineAgent, type LocalAgent } from '../../engine/local-agent.ts';
import type { AgentOutput } from '../../engine/agent-output.ts';
import type { TaskStore } from '../../store/task-store.ts';
import type { Agent, CallContext } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Message } from '../../protocol/message.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { type Task, limitHistory } from '../../protocol/task.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { CardDraft } from './card-draft.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type { Fault } from '../faults/fault.ts';
import { withEventFaults } from '../faults/event-faults.ts';
import { captureCall } from '../journal/capture-call.ts';
import type { Journal } from '../journal/journal.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import { toReceivedMessage } from './received-message.ts';
import {
  firstEventKind,
  type ReceivedMessage,
  type ResponsePlan,
  type UnmatchedMessage,
} from './response-plan.ts';
import { type TaskStreamOptions, taskStream } from '../playback/task-stream.ts';
import { playPlan } from '../playback/play-plan.ts';
import { failurePlan } from '../playback/failure-plan.ts';

/** The header by which the door tells the agent which request a call came with. Nobody else sees it. */
export const captureIdHeader = 'x-testkit-exchange';

/** Decides what to do; the ids are those that the message has got from the engine. */
type Decide = (
  incoming: ReceivedMessage,
  ids: { taskId: string; contextId: string },
) => ResponsePlan | UnmatchedMessage;

/** What a scripted agent needs. */
export interface ScriptedAgentOptions {
  readonly card: () => CardDraft;
  readonly decide: Decide;
  readonly clock: TestClock;
  readonly journal: Journal;
  readonly ledger?: TaskStore;
  readonly newId?: () => string;
  /** Leaves out the task that the engine begins a stream with, so that nothing is sent but what is played. */
  readonly hideInitialTask: boolean;
  /** Draws which faults of a plan strike. */
  readonly drawFaults: (plan: ResponsePlan) => readonly Fault[];
}

/** A call on its way through the engine. */
interface Passing {
  readonly operation: 'send' | 'stream';
  readonly recording: ExchangeCapture | undefined;
  /** The task as it stood before the message. */
  readonly before: Task | undefined;
  plan: ResponsePlan | undefined;
  faults: readonly Fault[];
  /** Hears of a task that is left as it is. */
  onHangUp: ((taskId: string) => void) | undefined;
}

/** What follows from what the agent says of itself. */
interface Described {
  readonly draft: CardDraft;
  readonly card: AgentCard;
  readonly entrance: MessageValidator;
}

/** How many contexts are counted. */
const maxContexts = 10_000;

/** An agent that does what others decide: the engine of this project, with a script for a mind. */
export class ScriptedAgent implements Agent {
  readonly createPushConfig: Agent['createPushConfig'];
  readonly getPushConfig: Agent['getPushConfig'];
  readonly listPushConfigs: Agent['listPushConfigs'];
  readonly deletePushConfig: Agent['deletePushConfig'];
  readonly getTask: Agent['getTask'];
  readonly listTasks: Agent['listTasks'];
  readonly cancelTask: Agent['cancelTask'];
  readonly jwks: Agent['jwks'];
  readonly #engine: LocalAgent;
  readonly #options: ScriptedAgentOptions;
  readonly #passing = new WeakMap<CallContext, Passing>();
  /** How many messages came in each context. */
  readonly #counts = new LruMap<string, number>({ maxEntries: maxContexts });
  /** The tasks that were left as they are, and who follows them. */
  readonly #hungUp = new Map<string, Set<() => void> | true>();
  #description: Described | undefined = undefined;

  constructor(options: ScriptedAgentOptions) {
    this.#options = options;
    const { clock, ledger, newId } = options;
    this.#engine = defineAgent(
      {
        name: 'Test agent',
        description: 'Does what a test says.',
        pushNotifications: true,
        allowDirectReply: true,
        process: (context) => this.#process(context),
      },
      {
        clock,
        taskStore: ledger,
        generateId: newId,
        idleTimeout: 0,
        push: { egress: { allowLoopback: true } },
        tracing: false,
      },
    );
    const engine = this.#engine;
    if (engine.jwks) this.jwks = () => engine.jwks?.() ?? Promise.resolve({ keys: [] });
    this.getTask = this.#noted('getTask', (request, call) => engine.getTask(request, call));
    this.listTasks = this.#noted('listTasks', (request, call) => engine.listTasks(request, call));
    this.cancelTask = this.#noted('cancelTask', (request, call) => engine.cancelTask(request, call));
    this.createPushConfig = this.#noted('createPushConfig', (request, call) =>
      this.#withPush(() => engine.createPushConfig(request, call)),
    );
    this.getPushConfig = this.#noted('getPushConfig', (request, call) =>
      this.#withPush(() => engine.getPushConfig(request, call)),
    );
    this.listPushConfigs = this.#noted('listPushConfigs', (request, call) =>
      this.#withPush(() => engine.listPushConfigs(request, call)),
    );
    this.deletePushConfig = this.#noted('deletePushConfig', (request, call) =>
      this.#withPush(() => engine.deletePushConfig(request, call)),
    );
  }

  ready(): Promise<void> {
    return this.#engine.ready();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /** Forgets how many messages came in which context. */
  reset(): void {
    this.#counts.clear();
  }

  async card(call?: CallContext): Promise<AgentCard> {
    this.#note('card', {}, call);
    return this.#currentCard();
  }

  async extendedCard(call: CallContext = {}): Promise<AgentCard> {
    this.#note('extendedCard', {}, call);
    const { extendedCard } = this.#options.card();
    if (extendedCard === undefined)
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card');
    const extra = typeof extendedCard === 'function' ? await extendedCard(call) : extendedCard;
    return { ...this.#currentCard(), ...extra };
  }

  async send(request: SendRequest, call?: CallContext): Promise<Task | Message> {
    const passing = await this.#begin('send', request, call);
    const hungUp = new Promise<string>((resolve) => {
      passing.state.onHangUp = resolve;
    });
    const answering = this.#engine.send(request, passing.call);
    // Once the agent has hung up nobody waits for this any more.
    answering.catch(() => {});
    return Promise.race([answering, hungUp.then((id) => this.#asItStands(id, request, passing.call))]);
  }

  async *stream(request: SendRequest, call?: CallContext): AsyncGenerator<StreamEvent> {
    if (this.#options.card().streaming === false)
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent does not stream');
    const passing = await this.#begin('stream', request, call);
    const events = this.#engine.stream(request, passing.call);
    const hidesOpening = (): boolean => {
      const first = passing.state.plan?.steps.slice(0, 1) ?? [];
      return this.#options.hideInitialTask || firstEventKind(first) === 'task';
    };
    const shown = taskStream(events, this.#followedBy(passing.state.recording, passing.call, hidesOpening));
    const first = await shown.next();
    // What goes wrong is decided with everything else, before there is anything to see.
    const whole = rejoined(first, shown);
    yield* withEventFaults(whole, passing.state.faults);
  }

  subscribe(...[request, call = {}]: Parameters<Agent['subscribe']>): AsyncIterable<StreamEvent> {
    const recording = this.#note('subscribe', request, call);
    // Whoever has seen everything gets no event by which the task could be known.
    return taskStream(this.#engine.subscribe(request, call), {
      ...this.#followedBy(recording, call, () => false),
      taskId: request.id,
    });
  }

  #followedBy(
    recording: ExchangeCapture | undefined,
    call: CallContext,
    hidesOpening: () => boolean,
  ): TaskStreamOptions {
    return {
      hidesOpening,
      onLeft: (taskId, tell) => this.#onLeft(taskId, tell),
      hangUp: recording && (() => recording.hangUp()),
      gone: recording?.closed,
      signal: recording ? undefined : call.signal,
    };
  }

  #onLeft(taskId: string, tell: () => void): () => void {
    const listeners = this.#hungUp.get(taskId);
    if (listeners === true) {
      tell();
      return () => {};
    }
    if (listeners) listeners.add(tell);
    else this.#hungUp.set(taskId, new Set([tell]));
    return () => {
      const present = this.#hungUp.get(taskId);
      if (present === true || !present?.delete(tell) || present.size > 0) return;
      this.#hungUp.delete(taskId);
    };
  }

  async #begin(
    operation: 'send' | 'stream',
    request: SendRequest,
    given: CallContext = {},
  ): Promise<{ call: CallContext; state: Passing }> {
    const recording = this.#note(operation, request, given);
    // A caller in this process may use one call for many messages.
    const call: CallContext = recording ? given : { ...given };
    this.#described().entrance.check(request, given);
    const id = request.message.taskId ?? request.clientTaskId;
    const before =
      id === undefined ? undefined : await this.#engine.getTask({ id }, call).catch(() => undefined);
    const state: Passing = { operation, recording, before, plan: undefined, faults: [], onHangUp: undefined };
    this.#passing.set(call, state);
    return { call, state };
  }

  /** What the engine asks of its agent. Everything is decided before anything is awaited. */
  #process(context: ProcessContext): AsyncGenerator<AgentOutput, void> {
    const passing = this.#passing.get(context.call);
    const { taskId, contextId, message } = context;
    const incoming = toReceivedMessage(context, {
      operation: passing?.operation ?? 'send',
      recording: passing?.recording,
      before: passing?.before,
      turn: this.#turn(passing?.before, message),
    });
    this.#counts.set(contextId, (this.#counts.get(contextId) ?? 0) + 1);
    passing?.recording?.belongsTo({ taskId, contextId });
    const plan = this.#decide(incoming, { taskId, contextId }, passing?.recording);
    const faults = this.#options.drawFaults(plan);
    if (passing) Object.assign(passing, { plan, faults });
    passing?.recording?.plays(plan, faults);
    return playPlan(plan, context, this.#options.clock, {
      isNew: message.taskId === undefined,
      hangUp: () => this.#hangUp(taskId, passing),
      done: () => {
        if (this.#hungUp.get(taskId) === true) this.#hungUp.delete(taskId);
      },
    });
  }

  #turn(before: Task | undefined, { contextId }: Message): number {
    if (before) return (before.history ?? []).filter(({ role }) => role === 'user').length;
    return contextId === undefined ? 0 : (this.#counts.get(contextId) ?? 0);
  }

  #decide(
    incoming: ReceivedMessage,
    ids: { taskId: string; contextId: string },
    recording: ExchangeCapture | undefined,
  ): ResponsePlan {
    try {
      const decided = this.#options.decide(incoming, ids);
      if ('steps' in decided) return decided;
      recording?.missed(decided.nearMisses);
      return failurePlan(unmatchedText(decided));
    } catch (thrown) {
      return failurePlan(`The script failed: ${(thrown as Error).message}`);
    }
  }

  #hangUp(taskId: string, passing: Passing | undefined): void {
    const listeners = this.#hungUp.get(taskId);
    this.#hungUp.set(taskId, true);
    if (listeners instanceof Set) for (const tell of listeners) tell();
    passing?.onHangUp?.(taskId);
  }

  async #asItStands(id: string, { configuration }: SendRequest, call: CallContext): Promise<Task> {
    return limitHistory(await this.#engine.getTask({ id }, call), configuration?.historyLength);
  }

  #currentCard(): AgentCard {
    return this.#described().card;
  }

  /** Who the agent says it is, and what it takes accordingly: a script may change both. */
  #described(): Described {
    const draft = this.#options.card();
    if (this.#description?.draft === draft) return this.#description;
    const definition = { ...this.#engine.definition, pushNotifications: false, ...draft };
    this.#description = { draft, card: buildCard(definition), entrance: new MessageValidator(definition) };
    return this.#description;
  }

  async #withPush<T>(work: () => Promise<T>): Promise<T> {
    if (!this.#currentCard().capabilities.pushNotifications)
      throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
    return work();
  }

  #noted<Request, Result>(
    operation: Parameters<typeof captureCall>[0],
    work: (request: Request, call?: CallContext) => Promise<Result>,
  ): (request: Request, call?: CallContext) => Promise<Result> {
    return (request, call) => {
      this.#note(operation, request, call);
      return work(request, call);
    };
  }

  #note(
    operation: Parameters<typeof captureCall>[0],
    request: unknown,
    call: CallContext = {},
  ): ExchangeCapture | undefined {
    const id = call.headers?.[captureIdHeader];
    const recording = id === undefined ? undefined : this.#options.journal.opened(Number(id));
    recording?.understood(captureCall(operation, request, call, recording));
    return recording;
  }
}

function unmatchedText({ nearMisses: [closest] }: UnmatchedMessage): string {
  const text = 'No rule of the script matches this message.';
  if (!closest) return text;
  return `${text} The closest is ${closest.rule}: ${closest.differences.join('; ')}`;
}

/** A stream whose first event was taken, whole again. */
async function* rejoined(
  first: IteratorResult<StreamEvent>,
  rest: AsyncGenerator<StreamEvent, void>,
): AsyncGenerator<StreamEvent> {
  try {
    if (first.done) return;
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}
