import type { JsonObject } from '../../../primitives/json.ts';
import { withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { type MutantAgent, type MutantSetup, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { mutateResult } from '../harness/mutations.ts';
import { in1_0, replaceError } from '../harness/operation-mutants.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';

const operation = /^GetExtendedAgentCard|^GET .*\/extendedAgentCard/;

function extendedCardMutant(id: string, description: string, setup: MutantSetup): MutantAgent {
  return mutant(id, description, {
    requiresAuthentication: true,
    definition: { extendedCard: { description: 'More of it' } },
    ...setup,
  });
}

function wireMutant(id: string, description: string, wire: WireMutation): MutantAgent {
  return extendedCardMutant(id, description, { wire: () => wire });
}

const mutateExtendedCard = (mutate: (card: JsonObject) => unknown): WireMutation =>
  mutateResult(operation, mutate);

/** Mutants of the extended card. */
export const extendedCardMutants: readonly MutantAgent[] = [
  in1_0(
    'extended-card.unsupported:not-configured',
    'A request for an undeclared extended card is rejected as not configured.',
    (agent) => ({
      extendedCard: (_request, call) =>
        replaceError(agent.extendedCard(call), 'UNSUPPORTED_OPERATION', 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'),
    }),
  ),
  in1_0(
    'extended-card.unsupported:public',
    'Without an extended card, the public card is returned.',
    (agent) => ({ extendedCard: (_request, call) => agent.card(call) }),
  ),
  extendedCardMutant('extended-card.answers:unsupported', 'A declared extended card is not supported.', {
    wire: () => ({}),
    agent: (agent) =>
      withInterceptor(agent, {
        extendedCard: () => Promise.reject(new A2AError('UNSUPPORTED_OPERATION')),
      }),
  }),
  wireMutant(
    'extended-card.answers:wrapped',
    'The extended card is wrapped.',
    mutateExtendedCard((card) => ({ card })),
  ),
  wireMutant(
    'extended-card.answers:only-more',
    'The extended card contains only the additions.',
    mutateExtendedCard(({ skills }) => ({ skills })),
  ),
  wireMutant('extended-card.anonymous:shown', 'Unauthenticated clients get the extended card.', {
    request(request) {
      if (operation.test(request.operation)) request.headers.authorization ??= `Bearer ${testPrincipals.ann}`;
    },
  }),
  wireMutant(
    'extended-card.bad-credentials:shown',
    'Clients with invalid credentials get the extended card.',
    {
      request(request) {
        if (operation.test(request.operation) && request.headers.authorization)
          request.headers.authorization = `Bearer ${testPrincipals.ann}`;
      },
    },
  ),
  wireMutant('extended-card.cache:public', 'The extended card may be cached publicly.', {
    response({ headers }, request) {
      if (operation.test(request.operation)) headers['cache-control'] = 'public, max-age=300';
    },
  }),
  wireMutant('extended-card.cache:none', 'The extended card has no Cache-Control header.', {
    response({ headers }) {
      delete headers['cache-control'];
    },
  }),
  wireMutant(
    'extended-card.secrets:token',
    'The extended card contains a token.',
    mutateExtendedCard((card) => {
      card.description = 'Call with Bearer abcdefghijklmnop123456';
    }),
  ),
];
