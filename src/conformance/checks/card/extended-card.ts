import { must, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { errorMismatch } from '../../drivers/error-response.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { cardSchemaErrors, findSecrets } from './card-schema.ts';
import { authStatus } from '../../wire/http-exchange.ts';
import { isAuthRejection, withInvalidCredentials } from '../security/credentials.ts';

function callExtendedCard(probe: Probe): Promise<DecodedResponse> {
  return probe.call('extendedCard', {});
}

/** Returns true for ExtendedAgentCardNotConfigured, which is valid even if the capability is declared. */
function isNotConfigured({ error }: DecodedResponse, { driver }: Probe): boolean {
  return (
    error !== undefined &&
    errorMismatch(error, 'ExtendedAgentCardNotConfigured', driver) === undefined &&
    (driver.transport === 'JSONRPC' || error.reason === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
  );
}

/** Returns the extended card for the credentials of the run. */
async function fetchExtendedCard(probe: Probe): Promise<JsonObject> {
  const response = await callExtendedCard(probe);
  if (isNotConfigured(response, probe))
    throw new InconclusiveError('The agent has no extended card configured.');
  const status = authStatus(response.exchange);
  if (status !== undefined)
    throw new InconclusiveError(`The extended card requires credentials (${status}).`, {
      kind: 'credentials',
    });
  probe.expect(isJsonObject(response.result), 'The extended card is not a JSON object', {
    expected: 'a card, or ExtendedAgentCardNotConfigured',
    actual: describeResponse(response),
  });
  return response.result as JsonObject;
}

async function expectRejected(probe: Probe, description: string): Promise<void> {
  const response = await callExtendedCard(probe);
  if (isNotConfigured(response, probe)) return;
  probe.expect(isAuthRejection(response), `The extended card is returned ${description}`, {
    expected: 'HTTP 401',
    actual: describeResponse(response),
  });
}

const shared = { category: 'agent-card', versions: ['1.0'], preconditions: ['extended-card'] } as const;

/** The extended card: sections 3.1.11, 3.3.4 and 13.3. */
export const extendedCardChecks = defineChecks(shared, [
  {
    id: 'extended-card.unsupported',
    ...must('3.3.4', 'CAP-001', 'CAP-004', 'XCARD-016'),
    sentence:
      'An agent without the extendedAgentCard capability rejects GetExtendedAgentCard with UnsupportedOperation.',
    remedy: 'Return -32004, or declare capabilities.extendedAgentCard.',
    preconditions: ['no-extended-card'],
    async run(probe) {
      const response = await callExtendedCard(probe);
      probe.assertError(response, 'UnsupportedOperation', 'A request for the extended card');
    },
  },
  {
    id: 'extended-card.answers',
    ...must('3.1.11', 'CAP-005', 'XCARD-017', 'XCARD-005'),
    sentence:
      'The agent returns a valid extended card to authenticated clients, or ExtendedAgentCardNotConfigured.',
    remedy: 'Return a card with all required members, or -32007.',
    async run(probe) {
      const errors = cardSchemaErrors(await fetchExtendedCard(probe)).filter(
        ({ tag }) => !['empty', 'unique', 'modes', 'patch'].includes(tag),
      );
      for (const { message } of errors) probe.warn(`The extended ${message}`);
    },
  },
  {
    id: 'extended-card.anonymous',
    ...must('13.3', 'XCARD-004', 'CARD-018', 'XCARD-013'),
    sentence: 'The agent requires authentication for the extended card.',
    remedy: 'Require authentication for GetExtendedAgentCard, even if no other operation requires it.',
    run: (probe) => expectRejected(probe.withCredentials({}), 'without credentials'),
  },
  {
    id: 'extended-card.bad-credentials',
    ...must('13.3', 'XCARD-004', 'XCARD-005'),
    sentence: 'The agent rejects requests for the extended card with invalid credentials.',
    remedy: 'Verify the credentials before the card is returned.',
    run: (probe) => expectRejected(withInvalidCredentials(probe), 'for invalid credentials'),
  },
  {
    id: 'extended-card.cache',
    ...should('13.3', 'XCARD-007'),
    sentence: 'The response with the extended card prevents shared caching.',
    remedy: 'Set Cache-Control: private or no-store.',
    transports: ['HTTP+JSON'],
    async run(probe) {
      await fetchExtendedCard(probe);
      const header = probe.exchanges.at(-1)?.headers['cache-control'] ?? 'none';
      const isPrivate = /private|no-store|no-cache/i.test(header);
      probe.expect(isPrivate, 'Cache-Control allows shared caching', { actual: header });
    },
  },
  {
    id: 'extended-card.secrets',
    ...should('13.3', 'XCARD-012'),
    sentence: 'The extended card contains no credentials.',
    remedy: 'Remove passwords, keys and tokens from the card.',
    async run(probe) {
      const { signatures: _signatures, ...card } = await fetchExtendedCard(probe);
      for (const at of findSecrets(card)) probe.warn(`${at} looks like a secret`);
    },
  },
]);
