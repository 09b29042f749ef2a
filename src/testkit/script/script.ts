import * as z from 'zod';
import { Document } from '../../documents/document.ts';
import type { AuthOptions } from '../../server/auth/authenticator.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { CardDraft } from '../agent/card-draft.ts';
import type { Fault } from '../faults/fault.ts';
import type { Responder, ReceivedMessage, ResponsePlan, UnmatchedMessage } from '../agent/response-plan.ts';
import { createSeededRandom } from '../seeded-random.ts';
import { compileCard } from './compile-card.ts';
import type { ScriptConversation } from './rules/conversation-state.ts';
import { type RuleSpec, scriptSchema, type ScriptSpec } from './schema/script-schema.ts';
import { Reaction } from './rules/reaction.ts';
import { closestRules } from './rules/script-rule.ts';
import { DocumentCompiler, RuleSet } from './rules/rule-set.ts';
import { compileAuth } from './compile-security.ts';
import { type SizeLimits, RuleContext } from './rules/rule-context.ts';

/** Options of {@link openScript}. */
export interface ScriptOptions {
  /** Folder of attachments. Set it only for trusted scripts. @defaultValue undefined: attachments are rejected */
  folder?: string;
  /** Seed of random values. @defaultValue `seed` of the script, else 0 */
  seed?: number;
  /** Maximum number of stored conversations. @defaultValue 10,000 */
  maxConversations?: number;
  /** Maximum length of a rendered template, in characters. @defaultValue 1,000,000 */
  maxText?: number;
  /** Maximum length of a value of `set` as JSON, in characters. @defaultValue 10,000 */
  maxValue?: number;
  /** @defaultValue 1,000 */
  maxRules?: number;
  /** Maximum size of an attachment. @defaultValue 10,000,000 */
  maxFileBytes?: number;
}

/** A rule in the admin API. */
export interface RuleSummary {
  readonly name: string;
  /** Number of matches. */
  readonly matches: number;
  /** The rule as written in the script. */
  readonly rule: RuleSpec;
}

/** A compiled mock script. */
export class Script {
  readonly name: string;
  readonly card: CardDraft;
  /** Authentication; undefined if disabled. */
  readonly auth: AuthOptions | undefined;
  /** Faults of card responses. */
  readonly cardFaults: readonly Fault[];
  readonly clock: 'system' | 'virtual';
  readonly seed: number;
  readonly responder: Responder;
  readonly #rules: RuleSet;
  readonly #fallback: ((ruleContext: RuleContext) => ResponsePlan) | undefined;
  readonly #conversations: LruMap<string, ScriptConversation>;
  readonly #limits: SizeLimits;
  #messageCount = 0;

  /** @internal Use {@link openScript}. */
  constructor(spec: ScriptSpec, file: string, compiler: DocumentCompiler, options: ScriptOptions) {
    const { agent = {}, otherwise } = spec;
    const { report } = compiler.context;
    this.name = spec.name ?? file;
    this.card = compileCard(agent, spec.name ?? 'Test agent');
    this.auth = agent.security && compileAuth(agent.security, ['agent', 'security'], report);
    this.cardFaults = [agent.fault ?? []].flat().map((fault) => ({ on: 'card', ...fault }));
    this.clock = spec.clock ?? 'system';
    this.seed = options.seed ?? spec.seed ?? 0;
    this.#conversations = new LruMap({ maxEntries: options.maxConversations ?? 10_000 });
    this.#limits = { maxText: options.maxText ?? 1_000_000, maxValue: options.maxValue ?? 10_000 };
    this.#rules = new RuleSet(options.maxRules ?? 1_000);
    this.#rules.load(spec.rules ?? [], compiler);
    if (otherwise) {
      const reaction = new Reaction(otherwise, ['otherwise'], { ...compiler.context, hasMatch: false });
      const origin = `otherwise (${compiler.location(['otherwise'])})`;
      this.#fallback = (ruleContext) => reaction.plan(ruleContext, origin);
    }
    this.responder = { decide: (received) => this.#decide(received), reset: () => this.#reset() };
  }

  /** In order of evaluation. */
  get rules(): readonly RuleSummary[] {
    return this.#rules.rules.map(({ name, matchCount, spec }) => ({ name, matches: matchCount, rule: spec }));
  }

  /**
   * Adds a rule in YAML or JSON.
   *
   * @param before - name of the rule before which it is inserted; at the end by default.
   * @param defaultName - name of the rule if it has none.
   * @returns the name of the rule.
   * @throws DocumentError if the rule is invalid or its name is in use.
   */
  addRule(text: string, before?: string, defaultName?: string): string {
    return this.#rules.add(text, before, defaultName);
  }

  /**
   * Replaces a rule.
   *
   * @returns false if the name is unknown.
   * @throws DocumentError if the rule is invalid.
   */
  replaceRule(name: string, text: string): boolean {
    return this.#rules.replace(name, text);
  }

  /** @returns false if the name is unknown */
  removeRule(name: string): boolean {
    return this.#rules.remove(name);
  }

  #decide(received: ReceivedMessage): ResponsePlan | UnmatchedMessage {
    // One random stream per message, so that parallel conversations do not influence each other.
    const random = createSeededRandom(this.seed, this.#messageCount++);
    const ruleContext = new RuleContext(received, this.#conversations, random, this.#limits);
    const input = { received, state: ruleContext.conversation.state };
    for (const rule of this.#rules.rules)
      if (!rule.isExhausted && rule.matchesInput(input)) return rule.respond(ruleContext);
    // Compared before the fallback is played, because it may change the state.
    const nearMisses = closestRules(this.#rules.rules.map((rule) => rule.compare(input)));
    return this.#fallback ? { ...this.#fallback(ruleContext), nearMisses } : { nearMisses };
  }

  #reset(): void {
    this.#conversations.clear();
    this.#messageCount = 0;
    for (const rule of this.#rules.rules) rule.matchCount = 0;
  }
}

/**
 * Compiles a mock script.
 *
 * @param file - name of the file in diagnostics.
 * @throws DocumentError with all diagnostics.
 */
export function openScript(text: string, file: string, options: ScriptOptions = {}): Script {
  const document = Document.parse(text, file);
  const spec = document.check(scriptSchema);
  const compiler = new DocumentCompiler(document, options.folder, options.maxFileBytes ?? 10_000_000);
  const script = new Script(spec, file, compiler, options);
  compiler.finish();
  return script;
}

/** Returns the JSON Schema of mock scripts. */
export function scriptJsonSchema(): { readonly [keyword: string]: unknown } {
  return z.toJSONSchema(scriptSchema, { io: 'input' });
}
