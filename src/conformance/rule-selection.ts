import type { ConformanceRule, RequirementLevel } from './rule-model.ts';

/** Which rules a run includes. */
export interface RuleSelection {
  /** Ids, sections, prefixes of them, or requirements. */
  readonly only?: readonly string[];
  /** Weakest level of the rules to run. @defaultValue `MAY` */
  readonly level?: RequirementLevel;
}

const levels: readonly RequirementLevel[] = ['MUST', 'SHOULD', 'MAY'];

/** Returns true if a run includes the rule. */
export function isRuleSelected(
  { id, section, level, requirements }: ConformanceRule,
  { only = [], level: weakest = 'MAY' }: RuleSelection,
): boolean {
  if (levels.indexOf(level) > levels.indexOf(weakest)) return false;
  if (only.length === 0) return true;
  return only.some(
    (each) =>
      id === each ||
      id.startsWith(`${each}.`) ||
      section === each ||
      section.startsWith(`${each}.`) ||
      requirements.includes(each),
  );
}
