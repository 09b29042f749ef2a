import { readArray } from '../../dialects/field-readers.ts';
import { A2AError } from '../../protocol/errors.ts';
import { endsTurn } from '../playback/ends-turn.ts';
import { parseScriptedEvent } from '../playback/parse-scripted-event.ts';
import type { Responder, ReceivedMessage, ResponsePlan, ScriptedEvent } from './response-plan.ts';

/** Options of `prime()`. */
export interface PrimeOptions {
  /** Selects the messages that consume the responses. @defaultValue all messages */
  readonly match?: (received: ReceivedMessage) => boolean;
}

interface PrimedBatch {
  readonly match: ((received: ReceivedMessage) => boolean) | undefined;
  readonly events: ScriptedEvent[];
}

/** Maximum number of queued events. */
const maxPrimed = 100_000;

/**
 * Queue of primed responses. A message consumes the events up to the first that ends or interrupts its task. If the
 * queue has no such event, the task is abandoned after the last one.
 */
export class PrimedResponses implements Responder {
  #batches: PrimedBatch[] = [];

  /**
   * Appends responses.
   *
   * @throws A2AError `INVALID_PARAMS` with index and field of an invalid event; then nothing is appended.
   */
  prime(responses: unknown, { match }: PrimeOptions = {}): void {
    const events = readArray(responses, 'responses').map((each, i) =>
      parseScriptedEvent(each, `responses[${i}]`),
    );
    if (this.size + events.length > maxPrimed)
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${maxPrimed} responses can be primed`);
    if (events.length > 0) this.#batches.push({ match, events });
  }

  /** Number of queued events. */
  get size(): number {
    let sum = 0;
    for (const { events } of this.#batches) sum += events.length;
    return sum;
  }

  decide(received: ReceivedMessage): ResponsePlan | undefined {
    const first = this.#batches.find(({ match }) => match?.(received) ?? true);
    if (!first) return undefined;
    const events = first.match ? takeTurn(first.events) : this.#takeUnfiltered();
    this.#batches = this.#batches.filter((batch) => batch.events.length > 0);
    return {
      steps: events.map((event) => ({ kind: 'event', event })),
      faults: [],
      ending: 'abandon',
      origin: 'primed responses',
    };
  }

  reset(): void {
    this.#batches = [];
  }

  /** Batches without `match` form one queue: a turn may span several calls of `prime()`. */
  #takeUnfiltered(): ScriptedEvent[] {
    const events: ScriptedEvent[] = [];
    for (const batch of this.#batches) {
      if (batch.match) continue;
      events.push(...takeTurn(batch.events));
      const last = events.at(-1);
      if (last && endsTurn(last)) break;
    }
    return events;
  }
}

/** Removes and returns the events up to the first that ends the turn. */
function takeTurn(events: ScriptedEvent[]): ScriptedEvent[] {
  const end = events.findIndex(endsTurn);
  return events.splice(0, end < 0 ? events.length : end + 1);
}
