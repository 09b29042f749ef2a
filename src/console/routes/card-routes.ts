import type { HttpClient } from '../../client/http/http-client.ts';
import type { RuleResult } from '../../conformance/rule-model.ts';
import type { RunChecksOutcome } from '../../conformance/run-checks.ts';
import { dialectForVersion } from '../../dialects/negotiation.ts';
import { lenientMode, type TranslationLoss } from '../../dialects/translation-loss.ts';
import type { AgentCard, ProtocolVersion } from '../../protocol/card.ts';
import type { AgentRegistry } from '../agents/agent-registry.ts';
import type { CardFinding, AgentCards, VersionedCard } from '../console-api.ts';
import { credentialHeaders } from '../agents/credentials.ts';
import type { ConsoleAgent } from '../agents/console-agent.ts';
import type { ApiRoutes } from '../api-routes.ts';

/** Rules of a card that can only be looked after by speaking to the agent, or to whomever the card names. */
const spoken = new Set(['card.truthful', 'card.undeclared', 'card.custom-binding', 'card-0.3.transports']);

/** Shows the cards of agents. */
export function cardRoutes(book: AgentRegistry, http: HttpClient): ApiRoutes {
  return {
    'GET agents/{}/cards': async (_request, id = '') => ({ json: await cardsOf(book.get(id), http) }),
  };
}

/** All cards of an agent, each as its own readers find it, and what the rules of conformance say to them. */
async function cardsOf(agent: ConsoleAgent, http: HttpClient): Promise<AgentCards> {
  const { url, credentials } = agent.facts;
  const { checks, runConformance } = await loaded();
  const read = async (headers: Record<string, string>, at = url): Promise<RunChecksOutcome> => {
    const options = { checks, invariants: [], headers, timeout: 8_000, maxTime: 20_000 };
    const outcome = await runConformance(at, options);
    if (outcome.unreachable === undefined || outcome.cards.length === 0) return outcome;
    // A card that names no way to speak to its agent is looked at all the more; naming its version asks for that.
    const versions = outcome.cards.map(({ version }) => version);
    return { ...(await runConformance(at, { ...options, versions })), unreachable: outcome.unreachable };
  };
  // As our client does: a card is asked for without credentials first.
  let outcome = await read({});
  if (outcome.cards.length === 0 && credentials)
    outcome = await read(await credentialHeaders(credentials, url, http));
  if (outcome.cards.length === 0) {
    const place = (await agent.cardUrl())?.replace(/\/\.well-known\/agent(-card)?\.json$/, '');
    if (place !== undefined && place !== url) outcome = await read({}, place);
  }
  const { cards, results, unreachable } = outcome;
  const noWay: CardFinding[] =
    unreachable === undefined ? [] : [{ level: 'error', path: '', message: unreachable }];
  return {
    cards: cards.map(({ version, url: place, card: wire }): VersionedCard => {
      const { card, findings } = understood(version, wire);
      const broken = results.filter((each) => each.version === version).flatMap(findingsOf);
      const paths = new Set(broken.map(({ path }) => path));
      const all = [...broken, ...noWay, ...findings.filter(({ path }) => !paths.has(path))];
      return { version, url: place, published: wire, ...(card && { card }), findings: all };
    }),
  };
}

/** The rules are many, and not needed before somebody looks. */
async function loaded() {
  const [{ allChecks }, { runChecks: runConformance }] = await Promise.all([
    import('../../conformance/checks/index.ts'),
    import('../../conformance/run-checks.ts'),
  ]);
  const checks = allChecks.filter(
    ({ id, about }) => about === 'card' && id.startsWith('card') && !spoken.has(id),
  );
  return { checks, runConformance };
}

function findingsOf({ rule, verdict, violations }: RuleResult): CardFinding[] {
  if (verdict !== 'fail' && verdict !== 'warn') return [];
  return violations.map(({ message, expected, actual }) => {
    const seen =
      actual === undefined
        ? ''
        : ` (${expected === undefined ? '' : `expected ${expected}, `}seen ${actual})`;
    return {
      level: verdict === 'fail' ? 'error' : 'warning',
      path: placeIn(message),
      message: `${message}${seen}. ${rule.remedy}`,
    };
  });
}

/** The place in the card that a rule speaks of: `card.skills[0].tags is …`, `The card has no description`. */
function placeIn(message: string): string {
  const [, there, missing] =
    /^card\.((?:[\w-]+(?:\[\d+\])*\.?)*(?<=[\]\w])) |^The card has no ([\w.[\]-]+)$/.exec(message) ?? [];
  return there ?? missing ?? '';
}

/** What a card means, and what could not be understood as it was. */
function understood(version: ProtocolVersion, wire: unknown): { card?: AgentCard; findings: CardFinding[] } {
  const losses: TranslationLoss[] = [];
  try {
    const card = dialectForVersion(version).card.read(wire, lenientMode(losses));
    return { card, findings: losses.map(({ path, note }) => ({ level: 'warning', path, message: note })) };
  } catch (thrown) {
    return { findings: [{ level: 'error', path: '', message: (thrown as Error).message }] };
  }
}
