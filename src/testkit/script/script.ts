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

/** How much a script may take, and where it is. */
export interface ScriptOptions {
  /**
   * The folder that files beside the script are in. Only for scripts of people who may read it.
   * @defaultValue none: the script can give no files
   */
  folder?: string;
  /** What chance begins with. @defaultValue as the script says, else 0 */
  seed?: number;
  /** How many conversations are remembered. @defaultValue 10,000 */
  maxConversations?: number;
  /** How many characters a text may have that a template makes. @defaultValue 1,000,000 */
  maxText?: number;
  /** How many characters a value may have that `set` remembers, as JSON. @defaultValue 10,000 */
  maxValue?: number;
  /** @defaultValue 1,000 */
  maxRules?: number;
  /** How many bytes a file beside the script may have. @defaultValue 10,000,000 */
  maxFileBytes?: number;
}

/** A rule, for people who ask what there is. */
export interface RuleSummary {
  readonly name: string;
  /** How often it has matched. */
  readonly matches: number;
  /** As it was written. */
  readonly rule: RuleSpec;
}

/** A script of a test agent, ready to be played. */
export class Script {
  readonly name: string;
  /** What the card says. */
  readonly card: CardDraft;
  /** Who is let in; undefined when everybody is. */
  readonly auth: AuthOptions | undefined;
  /** What goes wrong with the card. */
  readonly cardFaults: readonly Fault[];
  readonly clock: 'system' | 'virtual';
  readonly seed: number;
  /** Says what is done about a message. */
  readonly responder: Responder;
  readonly #book: RuleSet;
  readonly #otherwise: ((visit: RuleContext) => ResponsePlan) | undefined;
  readonly #conversations: LruMap<string, ScriptConversation>;
  readonly #sizes: SizeLimits;
  #decisions = 0;

  /** @internal Use {@link openScript}. */
  constructor(form: ScriptSpec, file: string, reading: DocumentCompiler, options: ScriptOptions) {
    const { agent = {}, otherwise } = form;
    const { report: complain } = reading.compiling;
    this.name = form.name ?? file;
    this.card = compileCard(agent, form.name ?? 'Test agent');
    this.auth = agent.security && compileAuth(agent.security, ['agent', 'security'], complain);
    this.cardFaults = [agent.fault ?? []].flat().map((fault) => ({ on: 'card', ...fault }));
    this.clock = form.clock ?? 'system';
    this.seed = options.seed ?? form.seed ?? 0;
    this.#conversations = new LruMap({ maxEntries: options.maxConversations ?? 10_000 });
    this.#sizes = { maxText: options.maxText ?? 1_000_000, maxValue: options.maxValue ?? 10_000 };
    this.#book = new RuleSet(options.maxRules ?? 1_000);
    this.#book.load(form.rules ?? [], reading);
    if (otherwise) {
      const reaction = new Reaction(otherwise, ['otherwise'], { ...reading.compiling, hasMatch: false });
      const origin = `otherwise (${reading.place(['otherwise'])})`;
      this.#otherwise = (visit) => reaction.plan(visit, origin);
    }
    this.responder = { decide: (incoming) => this.#decide(incoming), reset: () => this.#reset() };
  }

  /** In the order in which they are asked. */
  get rules(): readonly RuleSummary[] {
    return this.#book.rules.map(({ name, matches, form }) => ({ name, matches, rule: form }));
  }

  /**
   * Adds a rule, written as in a file (YAML or JSON).
   *
   * @param before - the name of the rule that it comes before; by default it is the last.
   * @param called - its name where it does not say one.
   * @returns its name.
   * @throws DocumentError when it is no rule, or when there is another of its name.
   */
  addRule(text: string, before?: string, called?: string): string {
    return this.#book.add(text, before, called);
  }

  /**
   * Puts a rule in the place of another.
   *
   * @returns false when there is none of that name.
   * @throws DocumentError when it is no rule.
   */
  replaceRule(name: string, text: string): boolean {
    return this.#book.replace(name, text);
  }

  /** Takes a rule away. @returns false when there is none of that name. */
  removeRule(name: string): boolean {
    return this.#book.remove(name);
  }

  #decide(incoming: ReceivedMessage): ResponsePlan | UnmatchedMessage {
    // Every message draws from a source of its own, so that conversations at the same time do not change each other.
    const random = createSeededRandom(this.seed, this.#decisions++);
    const visit = new RuleContext(incoming, this.#conversations, random, this.#sizes);
    const seen = { incoming, state: visit.conversation.state };
    for (const rule of this.#book.rules) if (!rule.isSpent && rule.holds(seen)) return rule.answer(visit);
    // Compared before anything is done, because what is done may change the state.
    const nearMisses = closestRules(this.#book.rules.map((rule) => rule.compare(seen)));
    return this.#otherwise ? { ...this.#otherwise(visit), nearMisses } : { nearMisses };
  }

  #reset(): void {
    this.#conversations.clear();
    this.#decisions = 0;
    for (const rule of this.#book.rules) rule.matches = 0;
  }
}

/**
 * Reads the script of a test agent.
 *
 * @param file - what it is called in complaints.
 * @throws DocumentError with line and column of everything that is wrong.
 */
export function openScript(text: string, file: string, options: ScriptOptions = {}): Script {
  const document = Document.parse(text, file);
  const form = document.check(scriptSchema);
  const reading = new DocumentCompiler(document, options.folder, options.maxFileBytes ?? 10_000_000);
  const script = new Script(form, file, reading, options);
  reading.finish();
  return script;
}

/** The JSON Schema of script files. */
export function scriptJsonSchema(): { readonly [keyword: string]: unknown } {
  return z.toJSONSchema(scriptSchema, { io: 'input' });
}
