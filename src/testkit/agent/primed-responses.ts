import { readArray } from '../../dialects/field-readers.ts';
import { A2AError } from '../../protocol/errors.ts';
import { endsTurn } from '../playback/ends-turn.ts';
import { parseScriptedEvent } from '../playback/parse-scripted-event.ts';
import type { Responder, ReceivedMessage, ResponsePlan, ScriptedEvent } from './response-plan.ts';

/** Which messages primed responses are for. */
export interface PrimeOptions {
  /** @defaultValue every message */
  readonly match?: (incoming: ReceivedMessage) => boolean;
}

/** Responses that wait for their turn. */
interface Batch {
  readonly match: ((incoming: ReceivedMessage) => boolean) | undefined;
  readonly events: ScriptedEvent[];
}

/** How many events may wait at once. */
const maxPrimed = 100_000;

/**
 * Events that are played to whoever comes first. A message takes the first ones up to one that ends or interrupts its
 * task, and leaves the rest to the next message; where the queue runs dry before, the agent hangs up.
 */
export class PrimedResponses implements Responder {
  #batches: Batch[] = [];

  /**
   * Puts responses at the end.
   *
   * @throws A2AError `INVALID_PARAMS` that names the index and the field; then none of them is put.
   */
  prime(responses: unknown, { match }: PrimeOptions = {}): void {
    const events = readArray(responses, 'responses').map((each, i) =>
      parseScriptedEvent(each, `responses[${i}]`),
    );
    if (this.size + events.length > maxPrimed)
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${maxPrimed} responses can wait`);
    if (events.length > 0) this.#batches.push({ match, events });
  }

  /** How many events wait. */
  get size(): number {
    let sum = 0;
    for (const { events } of this.#batches) sum += events.length;
    return sum;
  }

  decide(incoming: ReceivedMessage): ResponsePlan | undefined {
    const first = this.#batches.find(({ match }) => match?.(incoming) ?? true);
    if (!first) return undefined;
    const events = first.match ? taken(first.events) : this.#takeFromAll();
    this.#batches = this.#batches.filter((batch) => batch.events.length > 0);
    return {
      steps: events.map((event) => ({ kind: 'event', event })),
      faults: [],
      ending: 'hang-up',
      origin: 'primed responses',
    };
  }

  reset(): void {
    this.#batches = [];
  }

  /** What was primed for everybody is one queue, however often it was added to. */
  #takeFromAll(): ScriptedEvent[] {
    const events: ScriptedEvent[] = [];
    for (const batch of this.#batches) {
      if (batch.match) continue;
      events.push(...taken(batch.events));
      const last = events.at(-1);
      if (last && endsTurn(last)) break;
    }
    return events;
  }
}

/** Takes events out, up to the first that ends something. */
function taken(events: ScriptedEvent[]): ScriptedEvent[] {
  const end = events.findIndex(endsTurn);
  return events.splice(0, end < 0 ? events.length : end + 1);
}
