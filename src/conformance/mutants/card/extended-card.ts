import type { Agent } from '../../../protocol/agent.ts';
import { mutateResult, type MutableJson } from '../harness/mutations.ts';
import { type MutantAgent, defineMutants, type WireMutation } from '../harness/mutant-agent.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';
import { replaceError, overrideAgent } from '../harness/override-agent.ts';

const operation = /^GetExtendedAgentCard|GET .*\/extendedAgentCard/;

/** A broken agent with an extended card in one line: the rule, how, what, and its wire. */
function wired(breaks: string, how: string, what: string, wire: WireMutation): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    requiresAuthentication: true,
    definition: { extendedCard: { description: 'More of it' } },
    wire: () => wire,
  };
}

const bent = (bend: (card: MutableJson) => unknown): WireMutation => mutateResult(operation, bend);

/** Agents whose extended card is wrong in one thing. */
export const extendedCardMutants = defineMutants([
  {
    id: 'extended-card.unsupported:not-configured',
    violates: 'extended-card.unsupported',
    description: 'An extended card that is not declared is said not to be configured.',
    versions: ['1.0'],
    agent: (agent: Agent) =>
      overrideAgent(agent, {
        extendedCard: (call) =>
          replaceError(
            agent.extendedCard(call),
            'UNSUPPORTED_OPERATION',
            'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
          ),
      }),
  },
  {
    id: 'extended-card.unsupported:public',
    violates: 'extended-card.unsupported',
    description: 'Where there is no extended card, the public one is shown.',
    versions: ['1.0'],
    agent: (agent: Agent) => overrideAgent(agent, { extendedCard: (call) => agent.card(call) }),
  },
  {
    ...wired(
      'extended-card.answers',
      'unsupported',
      'An extended card that is declared is not supported.',
      {},
    ),
    agent: (agent: Agent) =>
      overrideAgent(agent, {
        extendedCard: async () => {
          const { A2AError } = await import('../../../protocol/errors.ts');
          throw new A2AError('UNSUPPORTED_OPERATION');
        },
      }),
  },
  wired(
    'extended-card.answers',
    'wrapped',
    'The extended card is wrapped.',
    bent((card) => ({ card })),
  ),
  wired(
    'extended-card.answers',
    'only-more',
    'The extended card has only what is more.',
    bent(({ skills }) => ({ skills })),
  ),
  wired('extended-card.anonymous', 'shown', 'Anybody sees the extended card.', {
    request(request) {
      if (operation.test(request.operation)) request.headers.authorization ??= `Bearer ${testPrincipals.ann}`;
    },
  }),
  wired('extended-card.bad-credentials', 'shown', 'Any credentials open the extended card.', {
    request(request) {
      if (operation.test(request.operation) && request.headers.authorization)
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  }),
  wired('extended-card.cache', 'public', 'Anybody may keep the extended card.', {
    response({ headers }, request) {
      if (operation.test(request.operation)) headers['cache-control'] = 'public, max-age=300';
    },
  }),
  wired('extended-card.cache', 'none', 'Nothing is said about keeping the extended card.', {
    response({ headers }) {
      delete headers['cache-control'];
    },
  }),
  wired(
    'extended-card.secrets',
    'token',
    'The extended card holds a token.',
    bent((card) => {
      card.description = 'Call with Bearer abcdefghijklmnop123456';
    }),
  ),
]);
