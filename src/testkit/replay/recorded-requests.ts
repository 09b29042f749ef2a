import type { Operation } from '../../protocol/agent.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { NearMiss } from '../agent/response-plan.ts';
import {
  type ComparedMessage,
  compareMessage,
  describeExchange,
  findNearMisses,
  type ReplayMatching,
} from './compare-requests.ts';
import { answeredTaskId, findTaskTimelines, type TaskTimeline } from './task-timeline.ts';
import type { RecordedExchange } from '../../tap/recording.ts';
import type { ReplayedTask } from './replayed-task.ts';

/** Conversation of a received message. */
export interface MessagePlace {
  /** The task that the message continues. */
  readonly task: ReplayedTask | undefined;
  /** Recorded id of the context that the message names, if it is known. */
  readonly contextId: string | undefined;
}

/** The recorded requests, and which of them were replayed. */
export class RecordedRequests {
  readonly #exchanges: readonly RecordedExchange[];
  readonly #matching: ReplayMatching;
  readonly #tasks: ReadonlyMap<string, TaskTimeline>;
  /** Tasks that messages continue. */
  readonly #continued = new Map<RecordedExchange, string>();
  readonly #replayed = new Set<RecordedExchange>();

  constructor(exchanges: readonly RecordedExchange[], matching: ReplayMatching) {
    this.#exchanges = exchanges;
    this.#matching = matching;
    this.#tasks = new Map(findTaskTimelines(exchanges).map((task) => [task.id, task]));
    const known = new Set(this.olderTasks.map(({ id }) => id));
    for (const exchange of this.#messages) {
      const { message, clientTaskId } = exchange.request as SendRequest;
      const id = message.taskId ?? clientTaskId;
      if (id !== undefined && (message.taskId !== undefined || known.has(id)))
        this.#continued.set(exchange, id);
      const answered = answeredTaskId(exchange);
      if (answered !== undefined) known.add(answered);
    }
  }

  /** Tasks that existed before the recording. */
  get olderTasks(): TaskTimeline[] {
    return [...this.#tasks.values()].filter(({ phases: [first] }) => first && first.request === undefined);
  }

  reset(): void {
    this.#replayed.clear();
  }

  /** Returns the task of a recorded message; undefined if the answer was a direct message or an error. */
  taskOf(exchange: RecordedExchange): TaskTimeline | undefined {
    return this.#tasks.get(answeredTaskId(exchange) ?? '');
  }

  /** Finds the recorded message that equals a received one, or else the nearest ones. */
  match(
    received: ComparedMessage,
    place: MessagePlace,
  ): { exchange?: RecordedExchange; nearMisses: readonly NearMiss[] } {
    const candidates = this.#candidates(place.task);
    const matches = candidates.filter((each) => this.#isMatch(each, received, place));
    const exchange = this.#select(matches, place);
    if (!exchange) {
      const compared = candidates.length > 0 ? candidates : this.#messages;
      return { nearMisses: findNearMisses(compared, received, this.#matching) };
    }
    this.#replayed.add(exchange);
    return { exchange, nearMisses: [] };
  }

  /** Takes the next recorded request of an operation on a task. */
  take(operation: Operation, id?: string, task?: ReplayedTask): RecordedExchange | undefined {
    const replayed = task?.replayed ?? this.#replayed;
    const found = this.#exchanges.find(
      (each) =>
        each.operation === operation &&
        requestedTaskId(each) === id &&
        !replayed.has(each) &&
        each.number > (task?.position ?? 0),
    );
    if (found) replayed.add(found);
    return found;
  }

  /** Describes how an operation on a task differs from the nearest recorded one. */
  findOperationMisses(operation: Operation, id: string, task: ReplayedTask | undefined): NearMiss[] {
    const others = this.#exchanges.filter((each) =>
      task
        ? requestedTaskId(each) === task.recorded.id && each.number > task.position
        : each.operation === operation,
    );
    return others.slice(0, 3).map((each) => ({
      rule: describeExchange(each),
      mismatches: [
        task
          ? `operation: recorded ${each.operation}, received ${operation}`
          : `id: recorded ${JSON.stringify(requestedTaskId(each))}, received ${JSON.stringify(id)}`,
      ],
      matched: 1,
    }));
  }

  get #messages(): RecordedExchange[] {
    return this.#exchanges.filter(({ operation }) => operation === 'send' || operation === 'stream');
  }

  #candidates(task: ReplayedTask | undefined): RecordedExchange[] {
    const all = this.#messages.filter((each) =>
      task
        ? this.#continued.get(each) === task.recorded.id && each.number > task.position
        : !this.#continued.has(each),
    );
    if (this.#matching === 'lenient') return all;
    return all.filter((each) => task !== undefined || !this.#replayed.has(each)).slice(0, 1);
  }

  #isMatch(exchange: RecordedExchange, received: ComparedMessage, { contextId }: MessagePlace): boolean {
    if (compareMessage(exchange, received, this.#matching).mismatches.length > 0) return false;
    return this.#matching === 'lenient' || contextId === undefined || contextOf(exchange) === contextId;
  }

  /** Prefers a request that was not replayed yet, in the same context. */
  #select(matches: readonly RecordedExchange[], { task, contextId }: MessagePlace) {
    if (task) return matches[0];
    const unused = matches.filter((each) => !this.#replayed.has(each));
    const left = unused.length > 0 ? unused : matches.slice(-1);
    return left.find((each) => contextOf(each) === contextId) ?? left[0];
  }
}

function contextOf(exchange: RecordedExchange): string | undefined {
  return (exchange.request as SendRequest).message.contextId;
}

function requestedTaskId({ request }: RecordedExchange): string | undefined {
  const { id, taskId, message } = request as {
    id?: string;
    taskId?: string;
    message?: { taskId?: string };
  };
  // A push configuration has an id in addition to the id of its task.
  return taskId ?? message?.taskId ?? id;
}
