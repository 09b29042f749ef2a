import type { Operation } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';
import type { Codec, Dialect, RequestOf, ResultOf, StreamOpenContext, UnaryOperation } from './dialect.ts';
import type { TranslationLoss, LossList, DecodeMode } from './translation-loss.ts';

type Requests = { [O in Operation as `${O}.request`]: RequestOf[O] };
type Results = { [O in UnaryOperation as `${O}.result`]: ResultOf[O] };

/** Model types by the name that {@link encode} and {@link decode} take. */
export interface Translatable extends Requests, Results {
  card: AgentCard;
  task: Task;
  message: Message;
  /** A complete stream; also a list on the wire. */
  events: readonly StreamEvent[];
}

/** Name of a model type. */
export type TranslatableName = keyof Translatable;

/** Options of {@link decode}. */
export interface DecodeOptions {
  /** Accepts deviations from the specification and records them as losses. @defaultValue true */
  readonly lenient?: boolean;
  /** For `events`: the request that opened the stream. */
  readonly opening?: StreamOpenContext;
}

/**
 * Encodes a model value in a dialect.
 *
 * @returns the wire value and the information that it cannot represent
 */
export function encode<N extends TranslatableName>(
  dialect: Dialect,
  name: N,
  value: Translatable[N],
): { wire: unknown; losses: TranslationLoss[] } {
  const losses: TranslationLoss[] = [];
  return { wire: codecOf(dialect, name, {}).write(value, losses), losses };
}

/**
 * Decodes a wire value of a dialect.
 *
 * @returns the model value and everything that was guessed, defaulted or dropped
 * @throws {@link A2AError} `INVALID_PARAMS` if the value is invalid
 */
export function decode<N extends TranslatableName>(
  dialect: Dialect,
  name: N,
  wire: unknown,
  { lenient = true, opening = {} }: DecodeOptions = {},
): { value: Translatable[N]; losses: TranslationLoss[] } {
  const losses: TranslationLoss[] = [];
  return { value: codecOf(dialect, name, opening).read(wire, { lenient, losses }), losses };
}

function codecOf<N extends TranslatableName>(
  dialect: Dialect,
  name: N,
  opening: StreamOpenContext,
): Codec<Translatable[N]> {
  // The compiler cannot relate a name to its codec; both sides use the same naming scheme.
  return findCodec(dialect, name, opening) as Codec<Translatable[N]>;
}

function findCodec(dialect: Dialect, name: TranslatableName, opening: StreamOpenContext): unknown {
  if (name === 'events') return eventsCodec(dialect, opening);
  if (name === 'card' || name === 'task' || name === 'message') return dialect[name];
  const [operation, side] = name.split('.') as [Operation, 'request' | 'result'];
  return side === 'request' ? dialect.requests[operation] : dialect.results[operation as UnaryOperation];
}

function eventsCodec(dialect: Dialect, opening: StreamOpenContext): Codec<readonly StreamEvent[]> {
  return {
    read(wire: unknown, mode: DecodeMode) {
      const reader = dialect.eventReader(opening);
      return (wire as unknown[]).flatMap((each) => reader.read(each, mode));
    },
    write(events: readonly StreamEvent[], losses?: LossList) {
      const writer = dialect.eventWriter();
      const wire = events.flatMap((event) => writer.write(event, losses));
      return [...wire, ...writer.end(lastStatus(events))];
    },
  };
}

function lastStatus(events: readonly StreamEvent[]): TaskStatusUpdateEvent | undefined {
  const last = events.findLast((event) => event.kind === 'status' || event.kind === 'task');
  if (last?.kind !== 'task') return last;
  const { id, contextId, status } = last.task;
  return { kind: 'status', taskId: id, contextId, status };
}
