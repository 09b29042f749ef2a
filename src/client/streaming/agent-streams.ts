import type { CallContext } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { SendRequest, SubscribeRequest } from '../../protocol/requests.ts';
import { isTask, isTerminal } from '../../protocol/task.ts';
import type { TaskIdAliases } from '../task-id-aliases.ts';
import { isRepeatable, withIdempotencyKey } from '../transports/service-parameters.ts';
import type { StreamFrame } from '../transports/transport-binding.ts';
import { connectionClosedError } from '../discovery/agent-resolver.ts';
import type { EndpointSelection } from '../discovery/endpoint-selection.ts';
import type { OperationCaller } from '../discovery/operation-caller.ts';
import type { ClientSettings } from '../connect-options.ts';
import { AliasedSend } from '../aliased-send.ts';
import { abortableStream } from './abortable-stream.ts';
import { type EventBatches, type StreamSource, ResumableStream } from './resumable-stream.ts';

/** Errors of agents that cannot stream; their tasks are polled. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

export class AgentStreams {
  readonly #caller: OperationCaller;
  readonly #settings: ClientSettings;
  readonly #aliases: TaskIdAliases;
  readonly #open = new Set<(reason: unknown) => void>();

  constructor(caller: OperationCaller, settings: ClientSettings, aliases: TaskIdAliases) {
    this.#caller = caller;
    this.#settings = settings;
    this.#aliases = aliases;
  }

  /** Sends a message and streams the events of its task. Polls if the agent cannot stream. */
  stream(given: SendRequest, call: CallContext): AsyncIterable<StreamEvent> {
    return abortableStream({ signal: call.signal, open: this.#open }, async (signal) => {
      const selection = await this.#caller.resolver.resolve(signal);
      const request = withIdempotencyKey(given, selection.agent.card);
      if (!canStream(selection)) return this.#sendAndPoll(selection, request, { ...call, signal });
      const state: { send?: AliasedSend } = {};
      const resumable = new ResumableStream(
        this.#settings,
        {
          ...this.#streamSource(selection, call),
          afterSequence: request.afterSequence,
          isRepeatable: isRepeatable(request, selection.agent.card),
          findTask: (streamSignal) =>
            this.#findTask(selection, state.send?.request ?? request, { ...call, signal: streamSignal }),
          open: (streamSignal, lastEventId) =>
            this.#caller.callThrough(selection, 'stream', async (binding) => {
              const send = await AliasedSend.prepare(this.#aliases, binding, request, call);
              state.send = send;
              return send.open(() =>
                binding.open(
                  'stream',
                  send.request,
                  { ...call, signal: streamSignal },
                  { signal: streamSignal, lastEventId },
                ),
              );
            }),
        },
        signal,
      );
      try {
        const events = await resumable.start();
        return state.send?.hasAlias ? state.send.aliasEvents(events) : events;
      } catch (thrown) {
        if (!cannotStream.has(A2AError.from(thrown).reason)) throw thrown;
        return this.#sendAndPoll(selection, request, { ...call, signal });
      }
    });
  }

  /** Subscribes to a task. Polls if the agent cannot stream. */
  subscribe(request: SubscribeRequest, call: CallContext): AsyncIterable<StreamEvent> {
    return abortableStream({ signal: call.signal, open: this.#open }, async (signal) => {
      const selection = await this.#caller.resolver.resolve(signal);
      const alias = await this.#aliases.find(call.owner, request.id);
      const taskId = alias?.taskId ?? request.id;
      const source: StreamSource = {
        ...this.#streamSource(selection, call),
        taskId,
        afterSequence: request.afterSequence,
        open: (streamSignal, lastEventId) =>
          this.#subscribe(selection, taskId, { call, signal: streamSignal, lastEventId }),
      };
      const resumable = new ResumableStream(this.#settings, source, signal);
      const events = await this.#startOrPoll(selection, resumable, { taskId, signal, call });
      return alias ? AliasedSend.applyAlias(events, alias) : events;
    });
  }

  /**
   * Finds the task of a sent message by the id of the message. Sending the message again would not be safe: the agent does
   * not recognize repetitions.
   */
  async #findTask(
    selection: EndpointSelection,
    { message: { messageId, contextId, taskId }, clientTaskId }: SendRequest,
    call: CallContext,
  ): Promise<string | undefined> {
    if (selection.endpoint.dialect.version === '0.1') {
      const id = taskId ?? clientTaskId;
      // The client chooses the id of a task in 0.1, so that the task need not exist: it throws then.
      if (id !== undefined)
        await this.#caller.callThrough(selection, 'getTask', (binding) =>
          binding.unary('getTask', { id }, call),
        );
      return id;
    }
    if (taskId !== undefined) return taskId;
    const { tasks } = await this.#caller.callThrough(selection, 'listTasks', (binding) =>
      binding.unary('listTasks', { contextId, pageSize: 50, historyLength: 50 }, call),
    );
    return tasks.find(({ history }) => history?.some((each) => each.messageId === messageId))?.id;
  }

  /** Closes all open streams. */
  close(): void {
    for (const close of this.#open) close(connectionClosedError());
  }

  #subscribe(
    selection: EndpointSelection,
    id: string,
    {
      call,
      signal,
      lastEventId,
    }: { call: CallContext; signal: AbortSignal; lastEventId: string | undefined },
  ) {
    return this.#caller.callThrough(selection, 'subscribe', (binding) =>
      binding.open('subscribe', { id }, { ...call, signal }, { signal, lastEventId }),
    );
  }

  #streamSource(selection: EndpointSelection, call: CallContext): Omit<StreamSource, 'open'> {
    return {
      reopen: (taskId, lastEventId, signal) =>
        this.#subscribe(selection, taskId, { call, signal, lastEventId }),
      getTask: (id, signal) =>
        this.#caller.callThrough(selection, 'getTask', (binding) =>
          binding.unary('getTask', { id }, { ...call, signal }),
        ),
      startsWithSnapshot: (frame) => startsWithSnapshot(frame, selection.endpoint.dialect.version),
    };
  }

  async #startOrPoll(
    selection: EndpointSelection,
    resumable: ResumableStream,
    { taskId, signal, call }: { taskId: string; signal: AbortSignal; call: CallContext },
  ): Promise<EventBatches> {
    const streams = canStream(selection);
    let error = new A2AError('UNSUPPORTED_OPERATION', 'The agent does not support streaming');
    if (streams) {
      try {
        return await resumable.start();
      } catch (thrown) {
        error = A2AError.from(thrown);
        if (!cannotStream.has(error.reason)) throw error;
      }
    }
    const task = await this.#streamSource(selection, call).getTask(taskId, signal);
    if (isTerminal(task.status.state))
      throw streams ? error : new A2AError('UNSUPPORTED_OPERATION', 'The task has ended');
    this.#settings.warn({
      kind: 'poll',
      taskId,
      error,
      message: `Polling task ${taskId}, because the agent cannot stream it`,
    });
    return resumable.poll(task);
  }

  async #sendAndPoll(
    selection: EndpointSelection,
    request: SendRequest,
    call: CallContext & { signal: AbortSignal },
  ): Promise<EventBatches> {
    const configuration = { ...request.configuration, returnImmediately: true };
    const state: { send?: AliasedSend } = {};
    const result = await this.#caller.callThrough(selection, 'send', async (binding) => {
      const send = await AliasedSend.prepare(this.#aliases, binding, { ...request, configuration }, call);
      state.send = send;
      return send.open(() => binding.unary('send', send.request, call));
    });
    const events = isTask(result)
      ? new ResumableStream(
          this.#settings,
          {
            ...this.#streamSource(selection, call),
            open: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')),
          },
          call.signal,
        ).poll(result)
      : once({ kind: 'message', message: result } as const);
    return state.send?.hasAlias ? state.send.aliasEvents(events) : events;
  }
}

/** An agent without a card may be able to stream. */
function canStream({ agent: { card } }: EndpointSelection): boolean {
  return !card || card.capabilities.streaming === true;
}

async function* once(event: StreamEvent): EventBatches {
  yield [event];
}

/** Before 1.0 the decoder may have inserted a task in front of the first update, which is not a snapshot of the agent. */
function startsWithSnapshot({ events }: StreamFrame, version: ProtocolVersion): boolean {
  const [head] = events;
  if (head?.kind !== 'task') return false;
  if (version === '1.0') return true;
  return events.length === 1 && (version !== '0.1' || head.task.artifacts !== undefined);
}
