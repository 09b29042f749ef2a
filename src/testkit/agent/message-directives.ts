import { A2AError } from '../../protocol/errors.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { failurePlan } from '../playback/failure-plan.ts';
import { parseScriptedEvent } from '../playback/parse-scripted-event.ts';
import type { Task } from '../../protocol/task.ts';
import type { ReceivedMessage, ResponsePlan, ScriptedEvent } from './response-plan.ts';
import { parseBoundedJson } from '../../primitives/json.ts';

const testCaseDirective = /\[test_case_id=([\w.-]+)\]/;
const responsesDirective = /\[responses_json=([^[\]]*)\]/;

/** Turns of a test case: the events of each. */
type Turns = readonly (readonly ScriptedEvent[])[];

/** Maximum number of test cases; the least recently used one is evicted. */
const maxTestCases = 10_000;

/**
 * Plays responses from directives in the message: `[test_case_id=…]` names a test case, `[responses_json=…]` is the
 * base64 of a JSON list of turns, each a list of events. The turns are stored with the first message of a task; later
 * messages need only the id of the test case. The number of earlier messages of the task selects the turn.
 */
export class MessageDirectives {
  readonly #cases = new LruMap<string, Turns>({ maxEntries: maxTestCases });

  /** @returns undefined if the message has no directives. */
  decide({ text, task }: ReceivedMessage): ResponsePlan | undefined {
    const id = testCaseDirective.exec(text)?.[1];
    const responses = responsesDirective.exec(text)?.[1];
    if (id === undefined && responses === undefined) return undefined;
    if (id === undefined) return failurePlan(missingDirectives);
    try {
      const isFirst = task === undefined || !this.#cases.has(id);
      if (isFirst && responses !== undefined) this.#cases.set(id, parseTurns(responses));
    } catch (thrown) {
      return failurePlan(`Invalid [responses_json] directive: ${A2AError.from(thrown).message}`);
    }
    const turns = this.#cases.get(id);
    return turns ? playTurn(id, turns, countUserMessages(task)) : failurePlan(missingDirectives);
  }

  reset(): void {
    this.#cases.clear();
  }
}

function playTurn(id: string, turns: Turns, turn: number): ResponsePlan {
  const events = turns[turn];
  if (!events) return failurePlan(`Test case ${id} ran out of responses for turn ${turn}.`);
  return {
    steps: events.map((event) => ({ kind: 'event', event })),
    faults: [],
    ending: 'abandon',
    origin: `directive ${id}, turn ${turn}`,
  };
}

function countUserMessages(task: Task | undefined): number {
  return task?.history?.filter(({ role }) => role === 'user').length ?? 0;
}

/** Status message of a task without directives, primed responses and script. */
export const missingDirectives = 'The test agent requires [test_case_id] and [responses_json] directives.';

/** One expression for all of it would throw a RangeError when it reads some million characters. */
function isBase64(text: string): boolean {
  const body = text.replace(/={1,2}$/, '');
  const padding = text.length - body.length;
  const rest = body.length % 4;
  return rest !== 1 && (padding === 0 || rest + padding === 4) && !/[^A-Za-z0-9+/]/.test(body);
}

function parseTurns(value: string): Turns {
  // Many encoders wrap their lines, and folded YAML makes spaces of line breaks.
  const text = value.replaceAll(/\s/g, '');
  if (text === '' || !isBase64(text))
    throw new A2AError('INVALID_PARAMS', 'the value is not base64 of the standard alphabet');
  const bytes = Buffer.from(text, 'base64');
  let turns: unknown;
  try {
    turns = parseBoundedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'the bytes are not UTF-8';
    throw new A2AError('INVALID_PARAMS', `the decoded value is not JSON (${reason})`, { cause });
  }
  if (!Array.isArray(turns)) throw new A2AError('INVALID_PARAMS', 'the JSON must be a list of turns');
  return turns.map((turn: unknown, index) => {
    if (!Array.isArray(turn)) throw new A2AError('INVALID_PARAMS', `turn ${index} must be a list of events`);
    return turn.map((event: unknown, i) => parseScriptedEvent(event, `[${index}][${i}]`));
  });
}
