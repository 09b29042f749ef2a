import { type Check, defineChecks, type Need } from '../../check.ts';
import type { Level, Transport } from '../../rule-model.ts';
import { Inconclusive } from '../../check-errors.ts';
import { described, type Probe } from '../../probe.ts';
import { mismatch } from '../../drivers/error-response.ts';
import type { Heard } from '../../drivers/protocol-driver.ts';
import { isObject, type Json } from '../../drivers/normalized-views.ts';
import { cardFlaws, secretsIn } from './card-schema.ts';
import { isRefusal, spoiled } from '../security/credentials.ts';

/** A check about the extended card: id, requirements, section, level, sentence, remedy, and what it does. */
function about(
  id: string,
  requirements: readonly string[],
  section: string,
  level: Level,
  sentence: string,
  remedy: string,
  run: (probe: Probe) => Promise<void>,
  needs: readonly Need[] = ['extended-card'],
  transports?: readonly Transport[],
): Check {
  const rule = { id, requirements, section, level, category: 'agent-card' as const, sentence, remedy };
  return { ...rule, versions: ['1.0'], needs, ...(transports ? { transports } : {}), run };
}

function ask(probe: Probe): Promise<Heard> {
  return probe.ask('extendedCard', {});
}

/** True when the agent says that it has no such card, which it may. */
function isNone({ fault }: Heard, { speech }: Probe): boolean {
  return (
    fault !== undefined &&
    mismatch(fault, 'ExtendedAgentCardNotConfigured', speech.transport) === undefined &&
    (speech.transport === 'JSONRPC' || fault.reason === 'EXTENDED_AGENT_CARD_NOT_CONFIGURED')
  );
}

/** The extended card as the caller of the run sees it. */
async function extended(probe: Probe): Promise<Json> {
  const heard = await ask(probe);
  if (isNone(heard, probe)) throw new Inconclusive('The agent says that no extended card is configured.');
  const { status } = heard.exchange;
  if (status === 401 || status === 403)
    throw new Inconclusive(`The extended card is not for this caller (HTTP ${status}): give credentials.`);
  probe.expect(isObject(heard.result), 'The extended card is no card', {
    expected: 'a card, or ExtendedAgentCardNotConfigured',
    actual: described(heard),
  });
  return heard.result as Json;
}

async function refusedFor(probe: Probe, who: string): Promise<void> {
  const heard = await ask(probe);
  if (isNone(heard, probe)) return;
  probe.expect(isRefusal(heard), `The extended card is shown to ${who}`, {
    expected: 'HTTP 401',
    actual: described(heard),
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
      probe.refusal(await ask(probe), 'UnsupportedOperation', 'The extended card');
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
      const flaws = cardFlaws(await extended(probe)).filter(
        ({ tag }) => !['empty', 'unique', 'modes', 'patch'].includes(tag),
      );
      for (const { message } of flaws) probe.complain(`The extended ${message}`);
    },
  ),
  about(
    'extended-card.anonymous',
    ['XCARD-004', 'CARD-018', 'XCARD-013'],
    '13.3',
    'MUST',
    'The extended card is not for callers that nobody knows.',
    'Require authentication for GetExtendedAgentCard, even where nothing else needs it.',
    (probe) => refusedFor(probe.as({}), 'anybody'),
  ),
  about(
    'extended-card.bad-credentials',
    ['XCARD-004', 'XCARD-005'],
    '13.3',
    'MUST',
    'The extended card is not for callers with wrong credentials.',
    'Verify the credentials before the card is sent.',
    (probe) => refusedFor(probe.as(spoiled(probe.tools.headers)), 'callers with wrong credentials'),
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
      for (const at of secretsIn(card)) probe.complain(`${at} looks like a secret`);
    },
  ),
]);
