import type { Fault } from '../faults/fault.ts';
import type { ReceivedMessage, NearMiss, ResponsePlan, UnmatchedMessage } from './response-plan.ts';
import { openScript, type RuleSummary, type Script } from '../script/script.ts';

/** A script with its source. */
interface LoadedScript {
  readonly file: string;
  readonly text: string;
  readonly script: Script;
}

/** The scripts of a test agent. The newest is evaluated first; the oldest one defines card and authentication. */
export class ScriptStack {
  readonly #seed: number | undefined;
  #loaded: LoadedScript[] = [];

  /** @param seed - overrides the seed of the scripts. */
  constructor(seed?: number) {
    this.#seed = seed;
  }

  get hasScripts(): boolean {
    return this.#loaded.length > 0;
  }

  /** The script that defines card and authentication. */
  get main(): Script | undefined {
    return this.#loaded.at(-1)?.script;
  }

  /** In order of evaluation. */
  get list(): readonly LoadedScript[] {
    return this.#loaded;
  }

  /** Faults of card responses. */
  get cardFaults(): readonly Fault[] {
    return this.main?.cardFaults ?? [];
  }

  /**
   * Replaces all scripts, or adds one before them.
   *
   * @param folder - base folder of attachments; undefined for untrusted scripts, which must not read files.
   * @throws DocumentError if the script is invalid; then nothing changes.
   */
  load(text: string, file: string, mode: 'replace' | 'add', folder?: string): void {
    const loaded = { file, text, script: openScript(text, file, { folder, seed: this.#seed }) };
    this.#loaded = mode === 'replace' ? [loaded] : [loaded, ...this.#loaded];
  }

  /** Finds a rule in all scripts. */
  rule(name: string): RuleSummary | undefined {
    for (const { script } of this.#loaded) {
      const found = script.rules.find((rule) => rule.name === name);
      if (found) return found;
    }
    return undefined;
  }

  /**
   * Replaces the rule of that name. If there is none, adds it to the script that contains the rule `before`, else to the
   * script that is evaluated first.
   *
   * @throws DocumentError if the rule is invalid; then nothing changes.
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

  /** @returns false if the name is unknown. */
  removeRule(name: string): boolean {
    return this.#loaded.some(({ script }) => script.removeRule(name));
  }

  clear(): void {
    this.#loaded = [];
  }

  /** Resets all conversations, counters and state. */
  reset(): void {
    for (const { script } of this.#loaded) script.responder.reset();
  }

  /** Returns the first plan of a script, or the near misses of all scripts. */
  decide(received: ReceivedMessage): ResponsePlan | UnmatchedMessage {
    const nearMisses: NearMiss[] = [];
    for (const { script } of this.#loaded) {
      const decision = script.responder.decide(received);
      if (!decision) continue;
      if ('steps' in decision) return decision;
      nearMisses.push(...decision.nearMisses);
    }
    return { nearMisses };
  }
}
