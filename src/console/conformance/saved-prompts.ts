import * as z from 'zod';
import type { OutcomePrompts } from '../../conformance/prompts/prompt-catalog.ts';
import { promptsSchema, toPrompts } from '../../conformance/prompts/read-prompts.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import { LruMap } from '../../primitives/lru-map.ts';
import type { SessionFolder } from '../sessions/session-folder.ts';

const path = 'messages.json';
const maxAgents = 1_000;
/** Characters of JSON of the messages of all agents in the file. */
const maxCharacters = 8 * 1_024 * 1_024;

const fileSchema = z.object({
  format: z.literal('dragoman-messages'),
  version: z.literal(1),
  agents: z.array(z.object({ id: z.string(), messages: promptsSchema })).max(maxAgents),
});

interface AgentPrompts {
  readonly id: string;
  readonly messages: OutcomePrompts;
}

/** The messages that the user entered for each agent, by agent ID. */
export class SavedPrompts {
  readonly #folder: SessionFolder;
  readonly #agents = new LruMap<string, AgentPrompts>({ maxEntries: maxAgents });
  /** Writes follow each other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: SessionFolder) {
    this.#folder = folder;
  }

  /** Reads the file of an earlier run of the console. A damaged one is reported. */
  async load(): Promise<void> {
    const text = await this.#folder.read(path, maxCharacters * 4);
    if (text === undefined) return;
    const { data } = fileSchema.safeParse(parseJsonOrUndefined(text));
    if (!data) this.#folder.reportDamage(path, 'its form is unknown');
    for (const { id, messages } of data?.agents ?? [])
      this.#agents.set(id, { id, messages: toPrompts(messages) });
  }

  get(agentId: string): OutcomePrompts {
    return this.#agents.get(agentId)?.messages ?? {};
  }

  async set(id: string, messages: OutcomePrompts): Promise<void> {
    this.#agents.set(id, { id, messages });
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  async #write(): Promise<void> {
    const agents: AgentPrompts[] = [];
    let characters = 0;
    // Newest first, because the limit leaves out the oldest.
    for (const { id, messages: entered } of [...this.#agents.values()].toReversed()) {
      const messages = this.#withoutSecrets(entered);
      characters += JSON.stringify(messages).length + id.length;
      if (characters > maxCharacters) break;
      agents.unshift({ id, messages });
    }
    await this.#folder.write(
      path,
      `${JSON.stringify({ format: 'dragoman-messages', version: 1, agents })}\n`,
    );
  }

  /** A message without its secret would not lead to its state, so it is left out. */
  #withoutSecrets(prompts: OutcomePrompts): OutcomePrompts {
    const { redactor } = this.#folder;
    const isSecret = (prompt: unknown): boolean =>
      JSON.stringify(redactor.redactDeep(prompt)) !== JSON.stringify(prompt);
    const kept = Object.entries(prompts).filter(([outcome, prompt]) => {
      if (!isSecret(prompt)) return true;
      this.#folder.note(`The message for ${outcome} is not kept after a restart: it contains a secret.`);
      return false;
    });
    return Object.fromEntries(kept);
  }
}
