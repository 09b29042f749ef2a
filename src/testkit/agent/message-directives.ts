import { A2AError } from '../../protocol/errors.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import { failurePlan } from '../playback/failure-plan.ts';
import { parseScriptedEvent } from '../playback/parse-scripted-event.ts';
import type { ReceivedMessage, ResponsePlan, ScriptedEvent } from './response-plan.ts';

const testCaseDirective = /\[test_case_id=([\w.-]+)\]/;
const responsesDirective = /\[responses_json=([^\]]*)\]/;
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The ids that the engine has given to a message. */
export interface TaskIds {
  readonly taskId: string;
  readonly contextId: string;
}

/** What was said about a test case when it was first heard of. */
interface TestCase {
  readonly turns: readonly (readonly ScriptedEvent[])[];
  /** The conversation of those who name neither task nor context. */
  readonly nameless: Conversation;
}

interface Conversation {
  /** How many turns were played. */
  played: number;
}

/** How many test cases, and how many conversations of all of them, are remembered. */
const maxRemembered = 10_000;

/**
 * Plays what a message itself says: `[test_case_id=…]` names a test case and `[responses_json=…]` is the base64 of a
 * JSON list of turns, each a list of events. The turns of a test case are read when it is first heard of, so that what
 * follows needs only its id. Turns are counted by task, else by context, else for the test case as a whole.
 */
export class MessageDirectives {
  readonly #cases = new LruMap<string, TestCase>({ maxEntries: maxRemembered });
  readonly #conversations = new LruMap<string, Conversation>({ maxEntries: maxRemembered * 2 });

  /** @returns undefined when the message has no directives. */
  decide(incoming: ReceivedMessage, ids: TaskIds): ResponsePlan | undefined {
    const id = testCaseDirective.exec(incoming.text)?.[1];
    const responses = responsesDirective.exec(incoming.text)?.[1];
    if (id === undefined && responses === undefined) return undefined;
    if (id === undefined) return failurePlan(missingDirectives);
    try {
      return this.#play(id, responses, incoming, ids);
    } catch (thrown) {
      return failurePlan(`Invalid [responses_json] directive: ${A2AError.from(thrown).message}`);
    }
  }

  reset(): void {
    this.#cases.clear();
    this.#conversations.clear();
  }

  #play(id: string, responses: string | undefined, incoming: ReceivedMessage, ids: TaskIds): ResponsePlan {
    let testCase = this.#cases.get(id);
    if (!testCase) {
      if (responses === undefined) return failurePlan(missingDirectives);
      testCase = { turns: readTurns(responses), nameless: { played: 0 } };
      this.#cases.set(id, testCase);
    }
    const conversation = this.#conversationOf(id, testCase, incoming, ids);
    const turn = conversation.played;
    const events = testCase.turns[turn];
    if (!events) return failurePlan(`Test case ${id} ran out of responses for turn ${turn}.`);
    conversation.played++;
    return {
      steps: events.map((event) => ({ kind: 'event', event })),
      faults: [],
      ending: 'hang-up',
      origin: `directive ${id}, turn ${turn}`,
    };
  }

  #conversationOf(
    id: string,
    { nameless }: TestCase,
    { task, message }: ReceivedMessage,
    ids: TaskIds,
  ): Conversation {
    const byTask = `${id} task ${ids.taskId}`;
    const byContext = `${id} context ${ids.contextId}`;
    const isNamed = task !== undefined || message.contextId !== undefined;
    const known = this.#conversations.get(byTask) ?? this.#conversations.get(byContext);
    const conversation = known ?? (isNamed ? { played: 0 } : nameless);
    this.#conversations.set(byTask, conversation);
    this.#conversations.set(byContext, conversation);
    return conversation;
  }
}

/** What is said where there are no directives and nothing else says what to do. */
export const missingDirectives = 'The test agent requires [test_case_id] and [responses_json] directives.';

function readTurns(text: string): ScriptedEvent[][] {
  if (text === '' || !base64.test(text))
    throw new A2AError('INVALID_PARAMS', 'the value is not base64 of the standard alphabet');
  const bytes = Buffer.from(text, 'base64');
  let turns: unknown;
  try {
    turns = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? cause.message : 'the bytes are not UTF-8';
    throw new A2AError('INVALID_PARAMS', `the decoded value is not JSON (${reason})`, { cause });
  }
  if (!Array.isArray(turns)) throw new A2AError('INVALID_PARAMS', 'the JSON must be a list of turns');
  return turns.map((turn: unknown, at) => {
    if (!Array.isArray(turn)) throw new A2AError('INVALID_PARAMS', `turn ${at} must be a list of events`);
    return turn.map((event: unknown, i) => parseScriptedEvent(event, `[${at}][${i}]`));
  });
}
