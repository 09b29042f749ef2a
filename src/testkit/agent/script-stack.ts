import type { Fault } from '../faults/fault.ts';
import type { ReceivedMessage, NearMiss, ResponsePlan, UnmatchedMessage } from './response-plan.ts';
import { openScript, type RuleSummary, type Script } from '../script/script.ts';

/** A script and where it came from. */
interface Loaded {
  readonly file: string;
  readonly text: string;
  readonly script: Script;
}

/** The scripts of a test agent. The newest is asked first; card and credentials are those of the first that was loaded. */
export class ScriptStack {
  readonly #seed: number | undefined;
  #loaded: Loaded[] = [];

  /** @param seed - what chance begins with, whatever the scripts say. */
  constructor(seed?: number) {
    this.#seed = seed;
  }

  /** True when there is at least one. */
  get isPresent(): boolean {
    return this.#loaded.length > 0;
  }

  /** The script that says who the agent is. */
  get main(): Script | undefined {
    return this.#loaded.at(-1)?.script;
  }

  /** In the order in which they are asked. */
  get list(): readonly Loaded[] {
    return this.#loaded;
  }

  /** What goes wrong with the card. */
  get cardFaults(): readonly Fault[] {
    return this.main?.cardFaults ?? [];
  }

  /**
   * Puts a script in the place of all others, or before them.
   *
   * @param folder - where files beside it are; undefined for one that a stranger may have sent.
   * @throws DocumentError when it is wrong; then everything stays as it was.
   */
  load(text: string, file: string, mode: 'replace' | 'add', folder?: string): void {
    const loaded = { file, text, script: openScript(text, file, { folder, seed: this.#seed }) };
    this.#loaded = mode === 'replace' ? [loaded] : [loaded, ...this.#loaded];
  }

  /** A rule of any of the scripts. */
  rule(name: string): RuleSummary | undefined {
    for (const { script } of this.#loaded) {
      const found = script.rules.find((rule) => rule.name === name);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Puts a rule in the place of the one of that name. Where there is none, it is added to the script that has the rule
   * it comes before, else to the one that is asked first.
   *
   * @throws DocumentError when it is no rule; then everything stays as it was.
   */
  putRule(name: string, text: string, before?: string): void {
    if (this.#loaded.some(({ script }) => script.replaceRule(name, text))) return;
    const owner =
      this.#loaded.find(({ script }) => script.rules.some((rule) => rule.name === before)) ?? this.#loaded[0];
    const [file, empty] = ['rules.yaml', 'rules: []'];
    const script = owner?.script ?? openScript(empty, file, { seed: this.#seed });
    script.addRule(text, before, name);
    if (!owner) this.#loaded = [{ file, text: empty, script }];
  }

  /** Takes a rule away. @returns false when there is none of that name. */
  removeRule(name: string): boolean {
    return this.#loaded.some(({ script }) => script.removeRule(name));
  }

  clear(): void {
    this.#loaded = [];
  }

  /** Forgets every conversation, counter and state. */
  reset(): void {
    for (const { script } of this.#loaded) script.responder.reset();
  }

  /** The first plan that a script has, or how near they all came. */
  decide(incoming: ReceivedMessage): ResponsePlan | UnmatchedMessage {
    const nearMisses: NearMiss[] = [];
    for (const { script } of this.#loaded) {
      const decided = script.responder.decide(incoming);
      if (!decided) continue;
      if ('steps' in decided) return decided;
      nearMisses.push(...decided.nearMisses);
    }
    return { nearMisses };
  }
}
