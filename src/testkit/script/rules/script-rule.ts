import type { DocumentPath } from '../../../documents/schema-issues.ts';
import type { NearMiss, ResponsePlan } from '../../agent/response-plan.ts';
import type { CompileContext } from '../compile-context.ts';
import { type Condition, compileConditions, type ConditionInput } from './compile-conditions.ts';
import type { RuleSpec } from '../schema/script-schema.ts';
import { Reaction } from './reaction.ts';
import { TextMatcher } from './text-matcher.ts';
import type { RuleContext } from './rule-context.ts';

/** One rule of a script, ready to be asked. */
export class ScriptRule {
  readonly name: string;
  /** The rule as it was written. */
  readonly form: RuleSpec;
  /** How often it has matched. */
  matches = 0;
  readonly #origin: string;
  readonly #conditions: readonly Condition[];
  readonly #text: TextMatcher | undefined;
  readonly #reactions: readonly Reaction[];

  /** @param place - where the file says it, such as `travel.yaml:12`. */
  constructor(
    form: RuleSpec,
    name: string,
    place: string,
    path: DocumentPath,
    compiling: Omit<CompileContext, 'hasMatch'>,
  ) {
    this.name = name;
    this.form = form;
    this.#origin = `rule ${name} (${place})`;
    const { when = {}, sequence, fault } = form;
    const complain = compiling.report.bind(compiling);
    this.#conditions = compileConditions(when, [...path, 'when'], complain);
    // Complaints about it were made above.
    this.#text = when.text === undefined ? undefined : new TextMatcher(when.text, [], () => {});
    const whole = { ...compiling, complain, hasMatch: this.#text?.hasRegex ?? false };
    if (!form.then && !sequence && !fault) complain(path, 'has to say what to do: then, sequence or fault');
    if (form.then && sequence) complain([...path, 'sequence'], 'stands instead of then, not beside it');
    if (!sequence && (form.cycle !== undefined || form.counts_by !== undefined))
      complain(path, 'cycle and counts_by are for a sequence');
    this.#reactions = sequence
      ? sequence.map((each, index) => new Reaction({ fault, ...each }, [...path, 'sequence', index], whole))
      : [new Reaction(form, path, whole)];
  }

  /** True when it has matched as often as it may. */
  get isSpent(): boolean {
    return this.matches >= (this.form.times ?? Number.POSITIVE_INFINITY);
  }

  holds(seen: ConditionInput): boolean {
    return this.#conditions.every((condition) => condition.holds(seen));
  }

  /** Counts the match and says what is done about it. */
  answer(visit: RuleContext): ResponsePlan {
    visit.match = this.#text?.find(visit.incoming.text);
    const earlier = this.matches++;
    const reactions = this.#reactions;
    let index = 0;
    if (reactions.length > 1) {
      const count = this.form.counts_by === 'script' ? earlier : visit.count(this);
      index = this.form.cycle ? count % reactions.length : Math.min(count, reactions.length - 1);
    }
    return (reactions[index] as Reaction).plan(visit, this.#origin);
  }

  /** Why it does not match, and how much of it does. */
  compare(seen: ConditionInput): NearMiss {
    const failed = this.#conditions.filter((condition) => !condition.holds(seen));
    const differences = failed.map(
      (each) => `${each.name}: expected ${each.expected}, was ${each.actual(seen)}`,
    );
    if (this.isSpent)
      differences.push(`times: expected at most ${this.form.times}, and it has matched so often`);
    return { rule: this.name, differences, matched: this.#conditions.length - failed.length };
  }
}

/** The rules that came closest: with the fewest differences, and then with the most that was as expected. */
export function closestRules(misses: readonly NearMiss[], count = 3): NearMiss[] {
  return misses
    .toSorted((a, b) => a.differences.length - b.differences.length || b.matched - a.matched)
    .slice(0, count);
}
