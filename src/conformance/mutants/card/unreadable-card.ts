import type { CheckedVersion } from '../../rule-model.ts';
import { mutant, type MutantAgent, type WireResponse } from '../harness/mutant-agent.ts';
import { isCardRequest } from '../harness/mutations.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

/** Creates a mutant that serves something else instead of its cards. */
function withoutCard(
  id: string,
  description: string,
  versions: readonly CheckedVersion[],
  response: WireResponse,
): MutantAgent {
  return mutant(id, description, {
    versions,
    transports: ['JSONRPC'],
    wire: () => ({
      request: (request) =>
        isCardRequest(request) && request.method === 'GET' ? { ...response } : undefined,
    }),
  });
}

const text = { status: 200, headers: { 'content-type': 'text/plain' }, text: 'hello', json: undefined };

/** Mutants without a readable card. Their endpoints are found by their responses. */
export const unreadableCardMutants: readonly MutantAgent[] = [
  withoutCard('card.found:missing', 'There is no card.', ['1.0'], wireJsonResponse(404, {})),
  withoutCard('card.found:page', 'The card is a page.', ['1.0'], htmlResponse(200)),
  withoutCard('card.found:text', 'The card is not JSON.', ['1.0'], text),
  withoutCard('card.found:list', 'The card is a list.', ['1.0'], wireJsonResponse(200, [])),
  withoutCard('card.members:empty', 'The card is empty.', ['1.0'], wireJsonResponse(200, {})),
  withoutCard(
    'card.public:guarded-for-all',
    'The card requires credentials.',
    ['1.0'],
    wireJsonResponse(401, {}),
  ),
  withoutCard('card-before.found:missing', 'There is no card.', ['0.3', '0.1'], wireJsonResponse(404, {})),
  withoutCard('card-before.found:page', 'The card is a page.', ['0.3', '0.1'], htmlResponse(200)),
  withoutCard('card-0.3.fields:empty', 'The card is empty.', ['0.3'], wireJsonResponse(200, {})),
  withoutCard('card-0.1.fields:empty', 'The card is empty.', ['0.1'], wireJsonResponse(200, {})),
];
