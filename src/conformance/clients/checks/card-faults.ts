import { jsonTransports, should } from '../../rule-model.ts';
import { clientVersions, type ClientCheck, defineClientChecks } from '../client-check.ts';
import type { ClientProbe } from '../client-probe.ts';
import type { ClientRun } from '../client-run.ts';
import type { AgentScript } from '../server/suite-agent.ts';

/** Answers that are no usable card. */
const brokenCards: readonly { readonly name: string; readonly script: AgentScript }[] = [
  { name: 'the card is missing (404)', script: { card: () => ({ kind: 'raw', status: 404 }) } },
  {
    name: 'the card request fails (500)',
    script: { card: () => ({ kind: 'raw', status: 500, body: 'failure' }) },
  },
  rawCard('the card is a page of HTML', '<!doctype html><title>Hello</title>', 'text/html'),
  rawCard('the card is not complete JSON', '{"name": "x", "supportedInterfaces": ['),
  rawCard('the card is the number 7', '7'),
  rawCard('the card is null', 'null'),
  rawCard('the card is an empty object', '{}'),
  rawCard(
    'the card has members of wrong types',
    '{"name": [], "url": {}, "supportedInterfaces": {"0": 7}, "capabilities": "x", "skills": 1}',
  ),
  rawCard('the card is nested 100,000 levels deep', `{"name": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
  {
    name: 'the interfaces have no usable URL',
    script: {
      card: (card) => ({
        ...card,
        url: 'javascript:alert(1)',
        additionalInterfaces: [],
        supportedInterfaces: [
          { url: 'javascript:alert(1)', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ],
      }),
    },
  },
];

function rawCard(
  name: string,
  body: string,
  type = 'application/json',
): { name: string; script: AgentScript } {
  return {
    name,
    script: { card: () => ({ kind: 'raw', status: 200, headers: { 'content-type': type }, body }) },
  };
}

/** Checks what a client does with cards that it cannot use. */
export const cardFaultChecks: readonly ClientCheck[] = defineClientChecks(
  { category: 'agent-card', versions: clientVersions, about: 'card' },
  [
    {
      id: 'client-card.invalid',
      ...should('robustness', 'robustness/invalid-card'),
      sentence: 'A client ends with an error if the card is missing or invalid.',
      remedy: 'Validate the card before it is used, limit its depth, and report what is wrong with it.',
      async run(probe) {
        for (const { name, script } of brokenCards) {
          const run = await probe.run('send', { ...script, hasBrokenCard: true });
          probe.expectVisibleError(run, name);
        }
      },
    },
    {
      id: 'client-card.too-large',
      ...should('robustness', 'robustness/endless-card'),
      transports: jsonTransports,
      sentence: 'A client limits the size of a card.',
      remedy: 'Stop reading a card after some megabytes and report an error.',
      async run(probe) {
        const run = await probe.run('send', {
          hasBrokenCard: true,
          card: () => ({
            kind: 'raw',
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: '{"name": "',
            endless: 'x',
          }),
        });
        expectClosedByClient(probe, run, 'the card never ends');
      },
    },
    {
      id: 'client-card.redirect-loop',
      ...should('robustness', 'robustness/redirects'),
      sentence: 'A client follows a limited number of redirections.',
      remedy: 'Give up after some redirections and report an error.',
      async run(probe) {
        const run = await probe.run('send', {
          hasBrokenCard: true,
          card: (_card, { agent }) => ({
            kind: 'raw',
            status: 302,
            headers: { location: `${agent}/.well-known/agent-card.json` },
          }),
        });
        probe.expectVisibleError(run, 'the card redirects to itself');
        probe.expect(run, run.requests.length <= 100, 'The client followed more than 100 redirections.', {
          actual: run.requests.length,
        });
      },
    },
  ],
);

/** @throws RuleViolationError if the client read an endless response to the limit of the suite, or did not end. */
export function expectClosedByClient(probe: ClientProbe, run: ClientRun, situation: string): void {
  probe.expectEnd(run, situation);
  const largest = run.requests.toSorted((a, b) => b.response.bytes - a.response.bytes)[0]?.response;
  probe.expect(
    run,
    largest?.endedBy === 'client',
    `The client read ${largest?.bytes ?? 0} bytes: ${situation}.`,
    {
      expected: 'the client closes the connection earlier',
    },
  );
}
