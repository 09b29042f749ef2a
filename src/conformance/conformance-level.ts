import type { ProtocolVariant } from '../protocol/card.ts';
import type { ConformanceRule, RuleResult, CheckedTransport, CheckedVersion } from './rule-model.ts';

/** Result of a run: how far an agent conforms to the protocol. */
export type ConformanceLevel = 'full' | 'partial' | 'minimal' | 'non-conformant';

/** A version over a transport, as declared by the card. */
export type CheckedVariant = ProtocolVariant<CheckedVersion, CheckedTransport>;

/** The members of a result that determine the level. */
export type LeveledResult = Pick<RuleResult, 'version' | 'transport' | 'verdict'> & {
  readonly rule: Pick<ConformanceRule, 'id' | 'level' | 'category' | 'isCritical'>;
};

/** Areas without which an agent is unusable. */
const basicAreas: ReadonlySet<string> = new Set(['card', 'send', 'get']);

/** Areas that an agent declares only if it supports them. */
const optionalAreas: ReadonlySet<string> = new Set([
  'stream',
  'subscribe',
  'push',
  'webhook',
  'extended',
  'signature',
  'extension',
  'interop',
]);

/** Returns the first segment of a rule id. */
export function ruleArea(id: string): string {
  return /^[\d.]*\d|^[a-z-]+(?:\d\.\d)?/.exec(id)?.[0] ?? id;
}

/**
 * Returns the conformance level of an agent. Only MUST rules change it.
 *
 * - `non-conformant`: no rule passes, no endpoint was found, a critical rule is violated, or a MUST of card, send or get
 *   is violated for the preferred variant
 * - `minimal`: another MUST of the core is violated
 * - `partial`: a MUST of a declared optional feature (streams, push notifications, another version or transport) is
 *   violated, or a MUST is inconclusive
 * - `full`: every applicable MUST holds for every declared variant
 *
 * @param variants - declared by the card, the preferred one first.
 */
export function computeLevel(
  results: readonly LeveledResult[],
  variants: readonly CheckedVariant[],
): ConformanceLevel {
  const musts = results.filter(({ rule }) => rule.level === 'MUST');
  const [preferred] = variants;
  const isViolated = ({ verdict }: LeveledResult): boolean => verdict === 'fail';
  const isCore = (result: LeveledResult): boolean => {
    const { rule, version, transport } = result;
    if (rule.category === 'streaming' || optionalAreas.has(ruleFamily(rule.id))) return false;
    if (version !== preferred?.version) return false;
    return transport === undefined || transport === preferred.transport;
  };
  if (!preferred || !musts.some(({ verdict }) => verdict === 'pass')) return 'non-conformant';
  if (musts.some((each) => isViolated(each) && each.rule.isCritical)) return 'non-conformant';
  const core = musts.filter(isCore);
  if (core.some((each) => isViolated(each) && basicAreas.has(ruleFamily(each.rule.id))))
    return 'non-conformant';
  if (core.some(isViolated)) return 'minimal';
  const isUndecided = ({ verdict }: LeveledResult): boolean =>
    verdict === 'inconclusive' || verdict === 'error';
  return musts.some((each) => isViolated(each) || isUndecided(each)) ? 'partial' : 'full';
}

/** `card-0.3.shape`, `card.shape` and `client-card.tenant` belong to the family `card`. */
function ruleFamily(id: string): string {
  return id.replace(/^client-/, '').split(/[.-]/)[0] ?? id;
}
