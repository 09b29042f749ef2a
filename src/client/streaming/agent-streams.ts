import type { Call } from '../../protocol/agent.ts';
import type { Version } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { SendRequest, SubscribeRequest } from '../../protocol/requests.ts';
import { isTask, isTerminal } from '../../protocol/task.ts';
import type { Aliases } from '../task-id-aliases.ts';
import type { Frame } from '../transports/transport-binding.ts';
import { closed } from '../discovery/agent-resolver.ts';
import type { Route } from '../discovery/endpoint-selection.ts';
import type { Speaker } from '../discovery/operation-caller.ts';
import type { Settings } from '../connect-options.ts';
import { Sending } from '../aliased-send.ts';
import { closable } from './abortable-stream.ts';
import { type Batches, type Followed, Follower } from './resumable-stream.ts';

/** The agent cannot stream: the same can be had by asking. */
const cannotStream: ReadonlySet<string> = new Set(['METHOD_NOT_FOUND', 'UNSUPPORTED_OPERATION']);

/** The streams of one agent. */
export class Streams {
  readonly #speaker: Speaker;
  readonly #settings: Settings;
  readonly #aliases: Aliases;
  readonly #open = new Set<(reason: unknown) => void>();

  constructor(speaker: Speaker, settings: Settings, aliases: Aliases) {
    this.#speaker = speaker;
    this.#settings = settings;
    this.#aliases = aliases;
  }

  /** Sends and follows. */
  stream(request: SendRequest, call: Call): AsyncIterable<StreamEvent> {
    return closable({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#speaker.finder.found(signal);
      const streams = !route.found.card || route.found.card.capabilities.streaming === true;
      if (!streams) return this.#sendAndPoll(route, request, { ...call, signal });
      const state: { sending?: Sending } = {};
      const follower = new Follower(
        this.#settings,
        {
          ...this.#followed(route, call),
          after: request.after,
          open: (ending, lastEventId) =>
            this.#speaker.through(route, 'stream', async (binding) => {
              const sending = await Sending.prepare(this.#aliases, binding, request, call);
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
  subscribe(request: SubscribeRequest, call: Call): AsyncIterable<StreamEvent> {
    return closable({ signal: call.signal, open: this.#open }, async (signal) => {
      const route = await this.#speaker.finder.found(signal);
      const alias = this.#aliases.find(call.owner, request.id);
      const taskId = alias?.taskId ?? request.id;
      const followed: Followed = {
        ...this.#followed(route, call),
        taskId,
        after: request.after,
        open: (ending, lastEventId) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      };
      const follower = new Follower(this.#settings, followed, signal);
      const events = await this.#startOrPoll(route, follower, { taskId, signal, call });
      return alias ? Sending.rename(events, alias) : events;
    });
  }

  /** Ends all of them. */
  close(): void {
    for (const end of this.#open) end(closed());
  }

  #subscribe(
    route: Route,
    id: string,
    { call, ending, lastEventId }: { call: Call; ending: AbortSignal; lastEventId: string | undefined },
  ) {
    return this.#speaker.through(route, 'subscribe', (binding) =>
      binding.open('subscribe', { id }, { ...call, signal: ending }, { signal: ending, lastEventId }),
    );
  }

  #followed(route: Route, call: Call): Omit<Followed, 'open'> {
    return {
      reopen: (taskId, lastEventId, ending) => this.#subscribe(route, taskId, { call, ending, lastEventId }),
      getTask: (id, signal) =>
        this.#speaker.through(route, 'getTask', (binding) =>
          binding.unary('getTask', { id }, { ...call, signal }),
        ),
      beginsWithTask: (frame) => beginsWithTask(frame, route.endpoint.dialect.version),
    };
  }

  async #startOrPoll(
    route: Route,
    follower: Follower,
    { taskId, signal, call }: { taskId: string; signal: AbortSignal; call: Call },
  ): Promise<Batches> {
    const streams = !route.found.card || route.found.card.capabilities.streaming === true;
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
    route: Route,
    request: SendRequest,
    call: Call & { signal: AbortSignal },
  ): Promise<Batches> {
    const configuration = { ...request.configuration, returnImmediately: true };
    const state: { sending?: Sending } = {};
    const answer = await this.#speaker.through(route, 'send', async (binding) => {
      const asked = { ...request, configuration };
      const sending = await Sending.prepare(this.#aliases, binding, asked, call);
      state.sending = sending;
      return sending.opened(() => binding.unary('send', sending.request, call));
    });
    const events = isTask(answer)
      ? new Follower(
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

async function* once(event: StreamEvent): Batches {
  yield [event];
}

/** Before 1.0 a reader may have put a task of its own before the first update; such a task is no picture. */
function beginsWithTask({ events }: Frame, version: Version): boolean {
  const [head] = events;
  if (head?.kind !== 'task') return false;
  if (version === '1.0') return true;
  return events.length === 1 && (version !== '0.1' || head.task.artifacts !== undefined);
}
