import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { NearMiss, ResponsePlan } from '../../agent/response-plan.ts';
import type { CompileContext } from '../compile-context.ts';
import { type Condition, compileConditions, type ConditionInput } from './compile-conditions.ts';
import type { RuleSpec } from '../schema/script-schema.ts';
import { Reaction } from './reaction.ts';
import { TextMatcher } from './text-matcher.ts';
import type { RuleContext } from './rule-context.ts';

/** A compiled rule of a script. */
export class ScriptRule {
  readonly name: string;
  /** The rule as written in the script. */
  readonly spec: RuleSpec;
  matchCount = 0;
  readonly #origin: string;
  readonly #conditions: readonly Condition[];
  readonly #text: TextMatcher | undefined;
  readonly #reactions: readonly Reaction[];

  /** @param location - such as `travel.yaml:12`. */
  constructor(
    spec: RuleSpec,
    name: string,
    location: string,
    path: DocumentPath,
    context: Omit<CompileContext, 'hasMatch'>,
  ) {
    this.name = name;
    this.spec = spec;
    this.#origin = `rule ${name} (${location})`;
    const { when = {}, sequence, fault } = spec;
    const report = context.report.bind(context);
    this.#conditions = compileConditions(when, [...path, 'when'], report);
    // Its errors have been reported above.
    this.#text = when.text === undefined ? undefined : new TextMatcher(when.text, [], () => {});
    const ruleContext = { ...context, report, hasMatch: this.#text?.hasRegex ?? false };
    if (!spec.then && !sequence && !fault) report(path, 'must have then, sequence or fault');
    if (spec.then && sequence) report([...path, 'sequence'], 'must not be combined with then');
    if (!sequence && (spec.cycle !== undefined || spec.sequence_scope !== undefined))
      report(path, 'cycle and sequence_scope need a sequence');
    this.#reactions = sequence
      ? sequence.map(
          (each, index) => new Reaction({ fault, ...each }, [...path, 'sequence', index], ruleContext),
        )
      : [new Reaction(spec, path, ruleContext)];
  }

  /** True if the rule has matched `times` times. */
  get isExhausted(): boolean {
    return this.matchCount >= (this.spec.times ?? Number.POSITIVE_INFINITY);
  }

  matchesInput(input: ConditionInput): boolean {
    return this.#conditions.every((condition) => condition.matches(input));
  }

  /** Counts the match and creates the response plan. */
  respond(ruleContext: RuleContext): ResponsePlan {
    ruleContext.match = this.#text?.find(ruleContext.received.text);
    const earlier = this.matchCount++;
    const reactions = this.#reactions;
    let index = 0;
    if (reactions.length > 1) {
      const count = this.spec.sequence_scope === 'script' ? earlier : ruleContext.countMatch(this);
      index = this.spec.cycle ? count % reactions.length : Math.min(count, reactions.length - 1);
    }
    return (reactions[index] as Reaction).plan(ruleContext, this.#origin);
  }

  /** Compares a message with the conditions of the rule. */
  compare(input: ConditionInput): NearMiss {
    const failed = this.#conditions.filter((condition) => !condition.matches(input));
    const mismatches = failed.map(
      (each) => `${each.name}: expected ${each.expected}, was ${each.actual(input)}`,
    );
    if (this.isExhausted)
      mismatches.push(`times: expected at most ${this.spec.times} matches, which are used up`);
    return { rule: this.name, mismatches, matched: this.#conditions.length - failed.length };
  }
}

/** Returns the closest rules: fewest mismatches first, then most fulfilled conditions. */
export function closestRules(misses: readonly NearMiss[], count = 3): NearMiss[] {
  return misses
    .toSorted((a, b) => a.mismatches.length - b.mismatches.length || b.matched - a.matched)
    .slice(0, count);
}
