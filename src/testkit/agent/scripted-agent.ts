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
import type { Outage } from '../../protocol/outage.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { type Task, limitHistory } from '../../protocol/task.ts';
import { type SendInput, toSendRequest } from '../../protocol/user-message.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { CardDraft } from './card-draft.ts';
import type { TestClock } from '../clock/test-clock.ts';
import type { Fault } from '../faults/fault.ts';
import { withEventFaults } from '../faults/event-faults.ts';
import type { Journal } from '../journal/journal.ts';
import type { ExchangeCapture } from '../journal/exchange-capture.ts';
import { captureAgentCall } from './call-capture.ts';
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

/** Creates the response plan. */
type Decide = (received: ReceivedMessage) => ResponsePlan | UnmatchedMessage;

/** Collaborators of {@link ScriptedAgent}. */
export interface ScriptedAgentOptions {
  readonly card: () => CardDraft;
  readonly decide: Decide;
  readonly clock: TestClock;
  readonly journal: Journal;
  readonly taskStore?: TaskStore;
  readonly generateId?: () => string;
  /** Suppresses the initial task event of the engine, so that streams contain only scripted events. */
  readonly hideInitialTask: boolean;
  /** Selects the faults of a plan that are injected. */
  readonly selectFaults: (plan: ResponsePlan) => readonly Fault[];
}

/** State of a call that the engine is processing. */
interface PendingCall {
  readonly operation: 'send' | 'stream';
  readonly capture: ExchangeCapture | undefined;
  /** The task before the message. */
  readonly previousTask: Task | undefined;
  plan: ResponsePlan | undefined;
  faults: readonly Fault[];
  /** Called when the task is abandoned. */
  onAbandoned: ((taskId: string) => void) | undefined;
}

type ForwardedOperation =
  | 'getTask'
  | 'listTasks'
  | 'cancelTask'
  | `${'create' | 'get' | 'delete'}PushConfig`
  | 'listPushConfigs';
type ForwardedCall = (request: never, call?: CallContext) => Promise<never>;

/** Values derived from a card draft. */
interface CurrentCard {
  readonly draft: CardDraft;
  readonly card: AgentCard;
  readonly validator: MessageValidator;
}

/** Maximum number of contexts whose messages are counted. */
const maxContexts = 10_000;

/** Agent that plays response plans in the engine and records its calls in the journal. */
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
  readonly #pendingCalls = new WeakMap<CallContext, PendingCall>();
  /** Number of messages per context. */
  readonly #messageCounts = new LruMap<string, number>({ maxEntries: maxContexts });
  /** Abandoned tasks (`true`), and listeners of tasks that may be abandoned. */
  readonly #abandoned = new Map<string, Set<() => void> | true>();
  #cachedCard: CurrentCard | undefined = undefined;

  constructor(options: ScriptedAgentOptions) {
    this.#options = options;
    const { clock, taskStore, generateId } = options;
    this.#engine = defineAgent(
      {
        name: 'Test agent',
        description: 'Scriptable mock agent.',
        pushNotifications: true,
        allowDirectReply: true,
        process: (context) => this.#process(context),
      },
      {
        clock,
        taskStore,
        generateId,
        idleTimeout: 0,
        push: { egress: { allowLoopback: true } },
        tracing: false,
      },
    );
    const engine = this.#engine;
    if (engine.jwks) this.jwks = () => engine.jwks?.() ?? Promise.resolve({ keys: [] });
    this.getTask = this.#forward('getTask');
    this.listTasks = this.#forward('listTasks');
    this.cancelTask = this.#forward('cancelTask');
    this.createPushConfig = this.#forward('createPushConfig');
    this.getPushConfig = this.#forward('getPushConfig');
    this.listPushConfigs = this.#forward('listPushConfigs');
    this.deletePushConfig = this.#forward('deletePushConfig');
  }

  ready(): Promise<void> {
    return this.#engine.ready();
  }

  outage(): Outage | undefined {
    return this.#engine.outage();
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  reset(): void {
    this.#messageCounts.clear();
  }

  async card(call?: CallContext): Promise<AgentCard> {
    this.#capture('card', {}, call);
    return this.#currentCard();
  }

  async extendedCard(call: CallContext = {}): Promise<AgentCard> {
    this.#capture('extendedCard', {}, call);
    const { extendedCard } = this.#options.card();
    if (extendedCard === undefined)
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent has no extended card');
    const extra = typeof extendedCard === 'function' ? await extendedCard(call) : extendedCard;
    return { ...this.#currentCard(), ...extra };
  }

  async send(input: SendInput, call?: CallContext): Promise<Task | Message> {
    const request = toSendRequest(input);
    const pending = await this.#begin('send', request, call);
    const abandoned = new Promise<string>((resolve) => {
      pending.state.onAbandoned = resolve;
    });
    const response = this.#engine.send(request, pending.call);
    // The result of an abandoned task is not awaited.
    response.catch(() => {});
    const abandonedTask = abandoned.then((id) => this.#engine.getTask({ id }, pending.call));
    const { historyLength } = request.configuration ?? {};
    return Promise.race([response, abandonedTask.then((task) => limitHistory(task, historyLength))]);
  }

  async *stream(input: SendInput, call?: CallContext): AsyncGenerator<StreamEvent> {
    const request = toSendRequest(input);
    if (this.#options.card().streaming === false)
      throw new A2AError('UNSUPPORTED_OPERATION', 'This agent does not stream');
    const pending = await this.#begin('stream', request, call);
    const events = this.#engine.stream(request, pending.call);
    const hideInitialTask = (): boolean => {
      const first = pending.state.plan?.steps.slice(0, 1) ?? [];
      return this.#options.hideInitialTask || firstEventKind(first) === 'task';
    };
    const shaped = taskStream(
      events,
      this.#streamOptions(pending.state.capture, pending.call, hideInitialTask),
    );
    const first = await shaped.next();
    // The faults are known only after the plan is created, which happens before the first event.
    yield* withEventFaults(prependFirst(first, shaped), pending.state.faults);
  }

  subscribe(...[request, call = {}]: Parameters<Agent['subscribe']>): AsyncIterable<StreamEvent> {
    const capture = this.#capture('subscribe', request, call);
    // A subscriber that resumes after the last event receives no event with the task id.
    return taskStream(this.#engine.subscribe(request, call), {
      ...this.#streamOptions(capture, call, () => false),
      taskId: request.id,
    });
  }

  #streamOptions(
    capture: ExchangeCapture | undefined,
    call: CallContext,
    hideInitialTask: () => boolean,
  ): TaskStreamOptions {
    return {
      hideInitialTask,
      onAbandoned: (taskId, notify) => this.#onAbandoned(taskId, notify),
      endResponse: capture && (() => capture.endResponse()),
      disconnected: capture?.closed,
      signal: capture ? undefined : call.signal,
    };
  }

  #onAbandoned(taskId: string, notify: () => void): () => void {
    const listeners = this.#abandoned.get(taskId);
    if (listeners === true) {
      notify();
      return () => {};
    }
    if (listeners) listeners.add(notify);
    else this.#abandoned.set(taskId, new Set([notify]));
    return () => {
      const current = this.#abandoned.get(taskId);
      if (current === true || !current?.delete(notify) || current.size > 0) return;
      this.#abandoned.delete(taskId);
    };
  }

  async #begin(
    operation: 'send' | 'stream',
    request: SendRequest,
    callerContext: CallContext = {},
  ): Promise<{ call: CallContext; state: PendingCall }> {
    const capture = this.#capture(operation, request, callerContext);
    // A caller in this process may reuse one call context for many messages.
    const call: CallContext = capture ? callerContext : { ...callerContext };
    this.#current().validator.check(request, callerContext);
    const id = request.message.taskId ?? request.clientTaskId;
    const previousTask =
      id === undefined ? undefined : await this.#engine.getTask({ id }, call).catch(() => undefined);
    const state: PendingCall = {
      operation,
      capture,
      previousTask,
      plan: undefined,
      faults: [],
      onAbandoned: undefined,
    };
    this.#pendingCalls.set(call, state);
    return { call, state };
  }

  /** The process function. It creates the plan synchronously, before the first `await`. */
  #process(context: ProcessContext): AsyncGenerator<AgentOutput, void> {
    const pending = this.#pendingCalls.get(context.call);
    const { taskId, contextId, message } = context;
    const received = toReceivedMessage(context, {
      operation: pending?.operation ?? 'send',
      capture: pending?.capture,
      previousTask: pending?.previousTask,
      turn: this.#turn(pending?.previousTask, message),
    });
    this.#messageCounts.set(contextId, (this.#messageCounts.get(contextId) ?? 0) + 1);
    pending?.capture?.setTaskIds({ taskId, contextId });
    const plan = this.#decide(received, pending?.capture);
    const faults = this.#options.selectFaults(plan);
    if (pending) Object.assign(pending, { plan, faults });
    pending?.capture?.setPlan(plan, faults);
    return playPlan(plan, context, this.#options.clock, {
      isNew: message.taskId === undefined,
      abandon: () => this.#abandon(taskId, pending),
      done: () => {
        if (this.#abandoned.get(taskId) === true) this.#abandoned.delete(taskId);
      },
    });
  }

  #turn(previousTask: Task | undefined, { contextId }: Message): number {
    if (previousTask) return (previousTask.history ?? []).filter(({ role }) => role === 'user').length;
    return contextId === undefined ? 0 : (this.#messageCounts.get(contextId) ?? 0);
  }

  #decide(received: ReceivedMessage, capture: ExchangeCapture | undefined): ResponsePlan {
    try {
      const decision = this.#options.decide(received);
      if ('steps' in decision) return decision;
      capture?.setUnmatched(decision.nearMisses);
      return failurePlan(unmatchedText(decision));
    } catch (thrown) {
      return failurePlan(`The script failed: ${(thrown as Error).message}`);
    }
  }

  #abandon(taskId: string, pending: PendingCall | undefined): void {
    const listeners = this.#abandoned.get(taskId);
    this.#abandoned.set(taskId, true);
    if (listeners instanceof Set) for (const notify of listeners) notify();
    pending?.onAbandoned?.(taskId);
  }

  #currentCard(): AgentCard {
    return this.#current().card;
  }

  /** Returns card and validator, rebuilt after a script has changed the draft. */
  #current(): CurrentCard {
    const draft = this.#options.card();
    if (this.#cachedCard?.draft === draft) return this.#cachedCard;
    const definition = { ...this.#engine.definition, pushNotifications: false, ...draft };
    this.#cachedCard = { draft, card: buildCard(definition), validator: new MessageValidator(definition) };
    return this.#cachedCard;
  }

  /** Returns an operation that records the call and passes it to the engine. */
  #forward<Name extends ForwardedOperation>(operation: Name): Agent[Name] {
    const run = this.#engine[operation].bind(this.#engine) as ForwardedCall;
    const forward: ForwardedCall = async (request, call) => {
      this.#capture(operation, request, call);
      if (operation.includes('Push') && !this.#currentCard().capabilities.pushNotifications)
        throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED');
      return run(request, call);
    };
    return forward;
  }

  #capture(
    operation: Parameters<typeof captureAgentCall>[1],
    request: unknown,
    call?: CallContext,
  ): ExchangeCapture | undefined {
    return captureAgentCall(this.#options.journal, operation, request, call);
  }
}

function unmatchedText({ nearMisses: [closest] }: UnmatchedMessage): string {
  const text = 'No rule of the mock script matches this message.';
  if (!closest) return text;
  return `${text} Closest rule ${closest.rule}: ${closest.mismatches.join('; ')}`;
}

/** Returns a stream that starts with an item that was already read. */
async function* prependFirst(
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
