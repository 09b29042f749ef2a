import type { Operation } from '../protocol/agent.ts';
import type { AgentCard } from '../protocol/card.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { Task } from '../protocol/task.ts';
import type { Codec, Dialect, RequestOf, ResultOf, StreamOpenContext, UnaryOperation } from './dialect.ts';
import type { TranslationLoss, LossList, DecodeMode } from './translation-loss.ts';

type Requests = { [O in Operation as `${O}.request`]: RequestOf[O] };
type Results = { [O in UnaryOperation as `${O}.result`]: ResultOf[O] };

/** Everything that can be translated by its name, and what it is in the model. */
export interface Translatable extends Requests, Results {
  card: AgentCard;
  task: Task;
  message: Message;
  /** A whole stream; on the wire, a list too. */
  events: readonly StreamEvent[];
}

/** The name of something that can be translated. */
export type TranslatableName = keyof Translatable;

/** How to read. */
export interface DecodeOptions {
  /**
   * Takes what is not quite right as well as it can be taken, and says so.
   * @defaultValue true
   */
  readonly lenient?: boolean;
  /** For `events`: what the request that opened the stream said. */
  readonly opening?: StreamOpenContext;
}

/**
 * Writes something in the words of a dialect.
 *
 * @returns The wire form and everything that it could not say.
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
 * Reads something in the words of a dialect.
 *
 * @returns What it means and everything that had to be guessed or left out.
 * @throws {@link A2AError} INVALID_PARAMS when it cannot be read.
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
  // The compiler cannot follow a name from the type to the codec; the names are built alike on both sides.
  return find(dialect, name, opening) as Codec<Translatable[N]>;
}

function find(dialect: Dialect, name: TranslatableName, opening: StreamOpenContext): unknown {
  if (name === 'events') return eventsCodec(dialect, opening);
  if (name === 'card' || name === 'task' || name === 'message') return dialect[name];
  const [operation, side] = name.split('.') as [Operation, 'request' | 'result'];
  return side === 'request' ? dialect.requests[operation] : dialect.results[operation as UnaryOperation];
}

function eventsCodec(dialect: Dialect, opening: StreamOpenContext): Codec<readonly StreamEvent[]> {
  return {
    read(wire: unknown, reading: DecodeMode) {
      const reader = dialect.eventReader(opening);
      return (wire as unknown[]).flatMap((each) => reader.read(each, reading));
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
