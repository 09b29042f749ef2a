import type { InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { ServerLibrary } from '../load-library.ts';

/** The name of the question in what goes to the client, and of the answer in what comes back. */
const field = 'answer';

/** How many characters of a question are shown. */
const maxQuestion = 4_000;

/** What a client carries along while its person thinks. */
interface Standing {
  /**
   * What the bridge goes on with. It cannot be guessed, is good once, and is what clients without forms are given in
   * plain words, so nothing is sealed here.
   */
  readonly followUpId: string;
  /** How many questions were asked so far. */
  readonly rounds: number;
}

/** Writes the question of an agent as a form with one field. */
export function formatQuestion(
  { inputRequired }: ServerLibrary,
  agentName: string,
  question: string,
  standing: Standing,
): InputRequiredResult {
  const text = question === '' ? 'needs more input.' : `asks: ${question}`;
  return inputRequired({
    inputRequests: {
      [field]: inputRequired.elicit({
        // People must see that it is not their own program that asks.
        message: `${agentName || 'The agent'} ${text}`.slice(0, maxQuestion),
        requestedSchema: {
          type: 'object',
          properties: { [field]: { type: 'string', title: 'Answer' } },
          required: [field],
        },
      }),
    },
    requestState: JSON.stringify(standing),
  });
}

/**
 * Reads what came of a question.
 *
 * @returns undefined for a call that is no answer to one; an `answer` of undefined when the person would not answer.
 */
export function parseQuestionAnswer(
  { inputResponse }: ServerLibrary,
  mcpReq: ServerContext['mcpReq'],
): (Standing & { readonly answer: string | undefined }) | undefined {
  const standing = readStanding(mcpReq.requestState());
  if (!standing) return undefined;
  const response = inputResponse(mcpReq.inputResponses, field);
  const said =
    response.kind === 'elicit' && response.action === 'accept' ? response.content?.[field] : undefined;
  return { ...standing, answer: typeof said === 'string' ? said : undefined };
}

function readStanding(state: unknown): Standing | undefined {
  if (typeof state !== 'string' || state.length > 1_000) return undefined;
  try {
    const { followUpId, rounds } = JSON.parse(state) as { [key: string]: unknown };
    if (typeof followUpId !== 'string' || typeof rounds !== 'number') return undefined;
    return { followUpId, rounds };
  } catch {
    return undefined;
  }
}
