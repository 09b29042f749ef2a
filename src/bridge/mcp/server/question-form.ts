import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { ServerLibrary } from '../load-mcp-library.ts';

/** Key of the elicitation request and field of its form. */
const field = 'answer';

/** Maximum length of a question, in characters. */
const maxQuestionLength = 4_000;

/** Request state that the client returns with the answer. */
interface QuestionState {
  /**
   * Not encrypted, because it cannot be guessed, is valid once, and clients without elicitation receive it in plain text
   * anyway.
   */
  readonly followUpId: string;
  /** Number of questions so far. */
  readonly rounds: number;
}

/** Formats the question of an agent as an MCP elicitation with one field. */
export function formatQuestion(
  { inputRequired }: ServerLibrary,
  agentName: string,
  question: string,
  state: QuestionState,
): InputRequiredResult {
  const text = question === '' ? 'needs more input.' : `asks: ${question}`;
  return inputRequired({
    inputRequests: {
      [field]: inputRequired.elicit({
        // Users must see that a remote agent asks, not their own client.
        message: `${agentName || 'The agent'} ${text}`.slice(0, maxQuestionLength),
        requestedSchema: {
          type: 'object',
          properties: { [field]: { type: 'string', title: 'Answer' } },
          required: [field],
        },
      }),
    },
    requestState: JSON.stringify(state),
  });
}

/**
 * Parses the answer to a question.
 *
 * @returns undefined if the call is not an answer; `answer` is undefined if the user declined.
 */
export function parseQuestionAnswer(
  { inputResponse }: ServerLibrary,
  mcpReq: ServerContext['mcpReq'],
): (QuestionState & { readonly answer: string | undefined }) | undefined {
  const state = parseState(mcpReq.requestState());
  if (!state) return undefined;
  const response = inputResponse(mcpReq.inputResponses, field);
  const answer =
    response.kind === 'elicit' && response.action === 'accept' ? response.content?.[field] : undefined;
  return { ...state, answer: typeof answer === 'string' ? answer : undefined };
}

function parseState(state: unknown): QuestionState | undefined {
  if (typeof state !== 'string' || state.length > 1_000) return undefined;
  const { followUpId, rounds } = asJsonObject(parseJsonOrUndefined(state)) ?? {};
  if (typeof followUpId !== 'string' || typeof rounds !== 'number') return undefined;
  return { followUpId, rounds };
}
