import type { HttpClient } from '../../client/http/http-client.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
import type { RunChecksOutcome } from '../../conformance/run-checks.ts';
import { dialectForVersion } from '../../dialects/negotiation.ts';
import { lenientMode, type TranslationLoss } from '../../dialects/translation-loss.ts';
import type { AgentCard, ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { CardFinding, AgentCards, VersionedCard } from '../console-api.ts';
import { credentialHeaders } from '../agents/credentials.ts';
import type { ConsoleAgent } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Card rules that need requests to the agent or to other hosts. */
const networkRules = new Set([
  'card.truthful',
  'card.undeclared',
  'card.custom-binding',
  'card-0.3.transports',
]);

/** Routes of the agent cards. */
export function cardRoutes(agents: AgentRegistry, http: HttpClient): ApiRoutes {
  return {
    'GET agents/{}/cards': async (_request, id = '') => ({ json: await loadCards(agents.get(id), http) }),
  };
}

/** Fetches the cards of an agent in all versions and checks them with the conformance rules. */
async function loadCards(agent: ConsoleAgent, http: HttpClient): Promise<AgentCards> {
  const { url, credentials } = agent.info;
  const { checks, runChecks } = await loadSuite();
  const read = async (headers: Record<string, string>, cardBaseUrl = url): Promise<RunChecksOutcome> => {
    const options = {
      checks,
      invariants: [],
      headers,
      timeout: 8_000,
      maxTime: 20_000,
      // Reading a card starts no task.
      probesByMessage: false,
    };
    const outcome = await runChecks(cardBaseUrl, options);
    if (outcome.unreachable === undefined || outcome.cards.length === 0) return outcome;
    // Naming the versions checks the card even if it lists no supported interface.
    const versions = outcome.cards.map(({ version }) => version);
    return { ...(await runChecks(cardBaseUrl, { ...options, versions })), unreachable: outcome.unreachable };
  };
  // Like the client: first without credentials.
  let outcome = await read({});
  if (outcome.cards.length === 0 && credentials)
    outcome = await read(await credentialHeaders(credentials, url, http));
  if (outcome.cards.length === 0) {
    const baseUrl = (await agent.cardUrl())?.replace(/\/\.well-known\/agent(-card)?\.json$/, '');
    if (baseUrl !== undefined && baseUrl !== url) outcome = await read({}, baseUrl);
  }
  const { cards, results, unreachable } = outcome;
  const unreachableFindings: CardFinding[] =
    unreachable === undefined ? [] : [{ level: 'error', path: '', message: unreachable }];
  return {
    cards: cards.map(({ version, url: cardUrl, card: published }): VersionedCard => {
      const { card, findings } = decodeCard(version, published);
      const ruleFindings = results.filter((each) => each.version === version).flatMap(toFindings);
      const paths = new Set(ruleFindings.map(({ path }) => path));
      const all = [
        ...ruleFindings,
        ...unreachableFindings,
        ...findings.filter(({ path }) => !paths.has(path)),
      ];
      return { version, url: cardUrl, published, ...(card && { card }), findings: all };
    }),
  };
}

/** Loads the card rules on demand. */
async function loadSuite() {
  const [{ allChecks }, { runChecks }] = await Promise.all([
    import('../../conformance/checks/index.ts'),
    import('../../conformance/run-checks.ts'),
  ]);
  const checks = allChecks.filter(
    ({ id, about }) => about === 'card' && id.startsWith('card') && !networkRules.has(id),
  );
  return { checks, runChecks };
}

function toFindings({ rule, verdict, violations }: RuleResult): CardFinding[] {
  if (verdict !== 'fail' && verdict !== 'warn') return [];
  return violations.map(({ message, expected, actual }) => {
    const details =
      actual === undefined
        ? ''
        : ` (${expected === undefined ? '' : `expected ${expected}, `}actual ${actual})`;
    return {
      level: verdict === 'fail' ? 'error' : 'warning',
      path: fieldInMessage(message),
      message: `${message}${details}. ${rule.remedy}`,
    };
  });
}

/** Returns the field path of a rule violation: `card.skills[0].tags is …`, `The card has no description`. */
export function fieldInMessage(message: string): string {
  const [, path, missing] = /^card\.([\w.[\]-]*[\]\w]) |^The card has no ([\w.[\]-]+)$/.exec(message) ?? [];
  return path ?? missing ?? '';
}

/** Decodes a card. Losses and errors become findings. */
function decodeCard(
  version: ProtocolVersion,
  published: unknown,
): { card?: AgentCard; findings: CardFinding[] } {
  const losses: TranslationLoss[] = [];
  try {
    const card = dialectForVersion(version).card.read(published, lenientMode(losses));
    return { card, findings: losses.map(({ path, note }) => ({ level: 'warning', path, message: note })) };
  } catch (thrown) {
    const { message, violations } = A2AError.from(thrown);
    const path = violations[0]?.field.replace(/^card\.?/, '') ?? '';
    return { findings: [{ level: 'error', path, message }] };
  }
}
