import type { CallContext } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { SendRequest, SubscribeRequest } from '../../protocol/requests.ts';
import { isTask, isTerminal } from '../../protocol/task.ts';
import type { TaskIdAliases } from '../task-id-aliases.ts';
import type { StreamFrame } from '../transports/transport-binding.ts';
import { connectionClosedError } from '../discovery/agent-resolver.ts';
import type { EndpointSelection } from '../discovery/endpoint-selection.ts';
import type { OperationCaller } from '../discovery/operation-caller.ts';
import type { ClientSettings } from '../connect-options.ts';
import { AliasedSend } from '../aliased-send.ts';
import { abortableStream } from './abortable-stream.ts';
import { type EventBatches, type StreamSource, ResumableStream } from './resumable-stream.ts';

/** The agent cannot stream: the same can be had by asking. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

/** The streams of one agent. */
export class AgentStreams {
  readonly #speaker: OperationCaller;
  readonly #settings: ClientSettings;
  readonly #aliases: TaskIdAliases;
  readonly #open = new Set<(reason: unknown) => void>();

  constructor(speaker: OperationCaller, settings: ClientSettings, aliases: TaskIdAliases) {
    this.#speaker = speaker;
    this.#settings = settings;
    this.#aliases = aliases;
  }

  /** Sends and follows. */
  stream(request: SendRequest, call: CallContext): AsyncIterable<StreamEvent> {
    return abortableStream({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#speaker.resolver.resolve(signal);
      const streams = !route.agent.card || route.agent.card.capabilities.streaming === true;
      if (!streams) return this.#sendAndPoll(route, request, { ...call, signal });
      const state: { sending?: AliasedSend } = {};
      const follower = new ResumableStream(
        this.#settings,
        {
          ...this.#followed(route, call),
          after: request.afterSequence,
          open: (ending, lastEventId) =>
            this.#speaker.callThrough(route, 'stream', async (binding) => {
              const sending = await AliasedSend.prepare(this.#aliases, binding, request, call);
              state.sending = sending;
              return sending.opened(() =>
                binding.open(
                  'stream',
                  sending.request,
                  { ...call, signal: ending },
                  { signal: ending, lastEventId },
                ),
              );
            }),
        },
        signal,
      );
      try {
        const events = await follower.start();
        return state.sending?.isNamed ? state.sending.named(events) : events;
      } catch (thrown) {
        if (!cannotStream.has(A2AError.from(thrown).reason)) throw thrown;
        return this.#sendAndPoll(route, request, { ...call, signal });
      }
    });
  }

  /** Follows. */
  subscribe(request: SubscribeRequest, call: CallContext): AsyncIterable<StreamEvent> {
    return abortableStream({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#speaker.resolver.resolve(signal);
      const alias = this.#aliases.find(call.owner, request.id);
      const taskId = alias?.taskId ?? request.id;
      const followed: StreamSource = {
        ...this.#followed(route, call),
        taskId,
        after: request.afterSequence,
        open: (ending, lastEventId) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      };
      const follower = new ResumableStream(this.#settings, followed, signal);
      const events = await this.#startOrPoll(route, follower, { taskId, signal, call });
      return alias ? AliasedSend.rename(events, alias) : events;
    });
  }

  /** Ends all of them. */
  close(): void {
    for (const end of this.#open) end(connectionClosedError());
  }

  #subscribe(
    route: EndpointSelection,
    id: string,
    {
      call,
      ending,
      lastEventId,
    }: { call: CallContext; ending: AbortSignal; lastEventId: string | undefined },
  ) {
    return this.#speaker.callThrough(route, 'subscribe', (binding) =>
      binding.open('subscribe', { id }, { ...call, signal: ending }, { signal: ending, lastEventId }),
    );
  }

  #followed(route: EndpointSelection, call: CallContext): Omit<StreamSource, 'open'> {
    return {
      reopen: (taskId, lastEventId, ending) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      getTask: (id, signal) =>
        this.#speaker.callThrough(route, 'getTask', (binding) =>
          binding.unary('getTask', { id }, { ...call, signal }),
        ),
      beginsWithTask: (frame) => beginsWithTask(frame, route.endpoint.dialect.version),
    };
  }

  async #startOrPoll(
    route: EndpointSelection,
    follower: ResumableStream,
    { taskId, signal, call }: { taskId: string; signal: AbortSignal; call: CallContext },
  ): Promise<EventBatches> {
    const streams = !route.agent.card || route.agent.card.capabilities.streaming === true;
    let refused = new A2AError('UNSUPPORTED_OPERATION', 'The agent does not stream');
    if (streams) {
      try {
        return await follower.start();
      } catch (thrown) {
        refused = A2AError.from(thrown);
        if (!cannotStream.has(refused.reason)) throw refused;
      }
    }
    const task = await this.#followed(route, call).getTask(taskId, signal);
    if (isTerminal(task.status.state))
      throw streams ? refused : new A2AError('UNSUPPORTED_OPERATION', 'The task is over');
    this.#settings.report({
      kind: 'poll',
      taskId,
      error: refused,
      message: `Task ${taskId} cannot be followed; it is asked for instead`,
    });
    return follower.poll(task);
  }

  /** Does what a stream does for an agent that has none. */
  async #sendAndPoll(
    route: EndpointSelection,
    request: SendRequest,
    call: CallContext & { signal: AbortSignal },
  ): Promise<EventBatches> {
    const configuration = { ...request.configuration, returnImmediately: true };
    const state: { sending?: AliasedSend } = {};
    const answer = await this.#speaker.callThrough(route, 'send', async (binding) => {
      const asked = { ...request, configuration };
      const sending = await AliasedSend.prepare(this.#aliases, binding, asked, call);
      state.sending = sending;
      return sending.opened(() => binding.unary('send', sending.request, call));
    });
    const events = isTask(answer)
      ? new ResumableStream(
          this.#settings,
          {
            ...this.#followed(route, call),
            open: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')),
          },
          call.signal,
        ).poll(answer)
      : once({ kind: 'message', message: answer } as const);
    return state.sending?.isNamed ? state.sending.named(events) : events;
  }
}

async function* once(event: StreamEvent): EventBatches {
  yield [event];
}

/** Before 1.0 a reader may have put a task of its own before the first update; such a task is no picture. */
function beginsWithTask({ events }: StreamFrame, version: ProtocolVersion): boolean {
  const [head] = events;
  if (head?.kind !== 'task') return false;
  if (version === '1.0') return true;
  return events.length === 1 && (version !== '0.1' || head.task.artifacts !== undefined);
}
