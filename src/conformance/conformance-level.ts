import type { RuleResult, CheckedTransport, CheckedVersion } from './rule-model.ts';

/** How far an agent can be relied on. */
export type ConformanceLevel = 'full' | 'partial' | 'minimal' | 'non-conformant';

/** A version over a transport, as the card declares it. */
export interface ProtocolVariant {
  readonly version: CheckedVersion;
  readonly transport: CheckedTransport;
}

/** The areas without which nobody can use an agent at all. */
const basic: ReadonlySet<string> = new Set(['card', 'send', 'get']);

/** The areas that an agent need not offer; it declares what it does. */
const optional: ReadonlySet<string> = new Set([
  'stream',
  'subscribe',
  'push',
  'webhook',
  'extended',
  'signature',
  'extension',
  'interop',
]);

/** The first part of an id: what a rule is about. */
export function ruleArea(id: string): string {
  return /^[\d.]*\d|^[a-z-]+(?:\d\.\d)?/.exec(id)?.[0] ?? id;
}

/**
 * The level of an agent, out of what became of the rules. Rules that are a SHOULD or a MAY never change it.
 *
 * - `non-conformant`: the card is not valid, nothing is ever answered, or a MUST of card, send or get is broken
 * - `minimal`: those hold; another MUST of the core is broken
 * - `partial`: the core holds; a MUST of something optional that is declared (streams, push notifications, a second
 *   version or transport) is broken, or nothing could be learned about a MUST
 * - `full`: every MUST that applies holds wherever the card says that the agent can be spoken to
 *
 * @param lanes - what the card declares, the preferred one first.
 */
export function computeLevel(
  results: readonly RuleResult[],
  variants: readonly ProtocolVariant[],
): ConformanceLevel {
  const musts = results.filter(({ rule }) => rule.level === 'MUST');
  const [first] = variants;
  const isBroken = ({ verdict }: RuleResult): boolean => verdict === 'fail';
  const isCore = (result: RuleResult): boolean => {
    const { rule, version, transport } = result;
    if (rule.category === 'streaming' || optional.has(familyOf(rule.id))) return false;
    if (version !== first?.version) return false;
    return transport === undefined || transport === first.transport;
  };
  if (!musts.some(({ verdict }) => verdict === 'pass')) return 'non-conformant';
  const core = musts.filter(isCore);
  if (core.some((each) => isBroken(each) && basic.has(familyOf(each.rule.id)))) return 'non-conformant';
  if (core.some(isBroken)) return 'minimal';
  const isOpen = ({ verdict }: RuleResult): boolean => verdict === 'inconclusive' || verdict === 'error';
  return musts.some((each) => isBroken(each) || isOpen(each)) ? 'partial' : 'full';
}

/** `card-0.3.shape` and `card.shape` are of one family. */
function familyOf(id: string): string {
  return id.split(/[.-]/)[0] ?? id;
}
