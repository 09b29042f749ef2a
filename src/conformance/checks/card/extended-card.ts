import { type Check, defineChecks, type Precondition } from '../../check.ts';
import type { RequirementLevel, CheckedTransport } from '../../rule-model.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { describeResponse } from '../../drivers/describe-response.ts';
import type { Probe } from '../../probe.ts';
import { errorMismatch } from '../../drivers/error-response.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { cardSchemaErrors, findSecrets } from './card-schema.ts';
import { isAuthRejection, corruptCredentials } from '../security/credentials.ts';

/** A check about the extended card: id, requirements, section, level, sentence, remedy, and what it does. */
function about(
  id: string,
  requirements: readonly string[],
  section: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void>,
  needs: readonly Precondition[] = ['extended-card'],
  transports?: readonly CheckedTransport[],
): Check {
  const rule = { id, requirements, section, level, category: 'agent-card' as const, sentence, remedy };
  return { ...rule, versions: ['1.0'], preconditions: needs, ...(transports ? { transports } : {}), run };
}

function ask(probe: Probe): Promise<DecodedResponse> {
  return probe.call('extendedCard', {});
}

/** True when the agent says that it has no such card, which it may. */
function isNone({ error }: DecodedResponse, { driver }: Probe): boolean {
  return (
    error !== undefined &&
    errorMismatch(error, 'ExtendedAgentCardNotConfigured', driver.transport) === undefined &&
    (driver.transport === 'JSONRPC' || error.reason === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
  );
}

/** The extended card as the caller of the run sees it. */
async function extended(probe: Probe): Promise<JsonObject> {
  const response = await ask(probe);
  if (isNone(response, probe))
    throw new InconclusiveError('The agent says that no extended card is configured.');
  const { status } = response.exchange;
  if (status === 401 || status === 403)
    throw new InconclusiveError(
      `The extended card is not for this caller (HTTP ${status}): give credentials.`,
    );
  probe.expect(isJsonObject(response.result), 'The extended card is no card', {
    expected: 'a card, or ExtendedAgentCardNotConfigured',
    actual: describeResponse(response),
  });
  return response.result as JsonObject;
}

async function refusedFor(probe: Probe, who: string): Promise<void> {
  const response = await ask(probe);
  if (isNone(response, probe)) return;
  probe.expect(isAuthRejection(response), `The extended card is shown to ${who}`, {
    expected: 'HTTP 401',
    actual: describeResponse(response),
  });
}

/** The extended card: sections 3.1.11, 3.3.4 and 13.3. */
export const extendedCardChecks = defineChecks([
  about(
    'extended-card.unsupported',
    ['CAP-001', 'CAP-004', 'XCARD-016'],
    '3.3.4',
    'MUST',
    'Without the capability in the card, the extended card is refused with UnsupportedOperation.',
    'Answer -32004, or declare capabilities.extendedAgentCard.',
    async (probe) => {
      probe.assertError(await ask(probe), 'UnsupportedOperation', 'The extended card');
    },
    ['no-extended-card'],
  ),
  about(
    'extended-card.answers',
    ['CAP-005', 'XCARD-017', 'XCARD-005'],
    '3.1.11',
    'MUST',
    'Who is known gets a whole card, or hears that none is configured.',
    'Answer with a card that has everything a card must have, or with -32007.',
    async (probe) => {
      const flaws = cardSchemaErrors(await extended(probe)).filter(
        ({ tag }) => !['empty', 'unique', 'modes', 'patch'].includes(tag),
      );
      for (const { message } of flaws) probe.warn(`The extended ${message}`);
    },
  ),
  about(
    'extended-card.anonymous',
    ['XCARD-004', 'CARD-018', 'XCARD-013'],
    '13.3',
    'MUST',
    'The extended card is not for callers that nobody knows.',
    'Require authentication for GetExtendedAgentCard, even where nothing else needs it.',
    (probe) => refusedFor(probe.withCredentials({}), 'anybody'),
  ),
  about(
    'extended-card.bad-credentials',
    ['XCARD-004', 'XCARD-005'],
    '13.3',
    'MUST',
    'The extended card is not for callers with wrong credentials.',
    'Verify the credentials before the card is sent.',
    (probe) =>
      refusedFor(
        probe.withCredentials(corruptCredentials(probe.context.headers)),
        'callers with wrong credentials',
      ),
  ),
  about(
    'extended-card.cache',
    ['XCARD-007'],
    '13.3',
    'SHOULD',
    'The answer with the extended card says who may keep it, and that is not everybody.',
    'Send Cache-Control: private or no-store.',
    async (probe) => {
      await extended(probe);
      const said = probe.exchanges.at(-1)?.headers['cache-control'] ?? 'none';
      probe.expect(/private|no-store|no-cache/i.test(said), 'Cache-Control does not keep the card private', {
        expected: 'Cache-Control: private',
        actual: said,
      });
    },
    ['extended-card'],
    ['HTTP+JSON'],
  ),
  about(
    'extended-card.secrets',
    ['XCARD-012'],
    '13.3',
    'SHOULD',
    'The extended card holds no credentials.',
    'Take passwords, keys and tokens out of the card.',
    async (probe) => {
      const { signatures: _signatures, ...card } = await extended(probe);
      for (const at of findSecrets(card)) probe.warn(`${at} looks like a secret`);
    },
  ),
]);
