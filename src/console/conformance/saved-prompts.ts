import { LruMap } from '../../primitives/lru-map.ts';
import type { OutcomePrompts } from '../../conformance/prompts/prompt-catalog.ts';

/** The messages that the user entered for each agent, by agent ID. */
export class SavedPrompts {
  readonly #prompts = new LruMap<string, OutcomePrompts>({ maxEntries: 1_000 });

  get(agentId: string): OutcomePrompts {
    return this.#prompts.get(agentId) ?? {};
  }

  set(agentId: string, prompts: OutcomePrompts): void {
    this.#prompts.set(agentId, prompts);
  }
}
