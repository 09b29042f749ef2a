import { A2AError } from '../../protocol/errors.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { failurePlan } from '../playback/failure-plan.ts';
import { parseScriptedEvent } from '../playback/parse-scripted-event.ts';
import type { ReceivedMessage, ResponsePlan, ScriptedEvent } from './response-plan.ts';
import { parseBoundedJson } from '../../primitives/json.ts';

const testCaseDirective = /\[test_case_id=([\w.-]+)\]/;
const responsesDirective = /\[responses_json=([^[\]]*)\]/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** Ids that the engine assigned to a message. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/** Turns of a test case, from its first message. */
interface TestCase {
  readonly turns: readonly (readonly ScriptedEvent[])[];
  /** Conversation of messages without task id and context id. */
  readonly sharedConversation: DirectiveConversation;
}

interface DirectiveConversation {
  playedTurns: number;
}

/** Maximum number of test cases; the least recently used one is evicted. */
const maxTestCases = 10_000;

/**
 * Plays responses from directives in the message: `[test_case_id=…]` names a test case, `[responses_json=…]` is the
 * base64 of a JSON list of turns, each a list of events. The turns are stored with the first message of a test case;
 * later messages need only its id. Turns are counted per task, else per context, else per test case.
 */
export class MessageDirectives {
  readonly #cases = new LruMap<string, TestCase>({ maxEntries: maxTestCases });
  readonly #conversations = new LruMap<string, DirectiveConversation>({ maxEntries: maxTestCases * 2 });

  /** @returns undefined if the message has no directives. */
  decide(received: ReceivedMessage, ids: TaskIds): ResponsePlan | undefined {
    const id = testCaseDirective.exec(received.text)?.[1];
    const responses = responsesDirective.exec(received.text)?.[1];
    if (id === undefined && responses === undefined) return undefined;
    if (id === undefined) return failurePlan(missingDirectives);
    try {
      return this.#play(id, responses, received, ids);
    } catch (thrown) {
      return failurePlan(`Invalid [responses_json] directive: ${A2AError.from(thrown).message}`);
    }
  }

  reset(): void {
    this.#cases.clear();
    this.#conversations.clear();
  }

  #play(id: string, responses: string | undefined, received: ReceivedMessage, ids: TaskIds): ResponsePlan {
    let testCase = this.#cases.get(id);
    if (!testCase) {
      if (responses === undefined) return failurePlan(missingDirectives);
      testCase = { turns: parseTurns(responses), sharedConversation: { playedTurns: 0 } };
      this.#cases.set(id, testCase);
    }
    const conversation = this.#findConversation(id, testCase, received, ids);
    const turn = conversation.playedTurns;
    const events = testCase.turns[turn];
    if (!events) return failurePlan(`Test case ${id} ran out of responses for turn ${turn}.`);
    conversation.playedTurns++;
    return {
      steps: events.map((event) => ({ kind: 'event', event })),
      faults: [],
      ending: 'abandon',
      origin: `directive ${id}, turn ${turn}`,
    };
  }

  #findConversation(
    id: string,
    { sharedConversation }: TestCase,
    { task, message }: ReceivedMessage,
    ids: TaskIds,
  ): DirectiveConversation {
    const byTask = `${id} task ${ids.taskId}`;
    const byContext = `${id} context ${ids.contextId}`;
    const isNamed = task !== undefined || message.contextId !== undefined;
    const known = this.#conversations.get(byTask) ?? this.#conversations.get(byContext);
    const conversation = known ?? (isNamed ? { playedTurns: 0 } : sharedConversation);
    this.#conversations.set(byTask, conversation);
    this.#conversations.set(byContext, conversation);
    return conversation;
  }
}

/** Status message of a task without directives, primed responses and script. */
export const missingDirectives = 'The test agent requires [test_case_id] and [responses_json] directives.';

function parseTurns(text: string): ScriptedEvent[][] {
  if (text === '' || !base64.test(text))
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
