import type { JsonObject } from '../../primitives/json.ts';
import type { DecodedResponse } from '../drivers/protocol-driver.ts';
import { asText, listOf, objectsOf } from '../drivers/normalized-views.ts';
import type { Probe } from '../probe.ts';

/** An example of a skill in the card. */
export interface SkillExample {
  readonly skillId: string;
  readonly text: string;
}

/** Maximum number of examples that are sent over one variant. */
const maxExamples = 20;
/** Number of examples that are sent at once. */
const concurrency = 4;

/** Returns the ids of the skills in a card. */
export function skillIds({ skills }: JsonObject): string[] {
  return objectsOf(skills).flatMap(({ id }) => asText(id) ?? []);
}

/** Returns the examples of skills, without templates: the first of each skill, then the second of each, and so on. */
export function cardExamples({ skills }: JsonObject, ids?: readonly string[]): SkillExample[] {
  return objectsOf(skills)
    .filter(({ id }) => !ids || ids.includes(String(id)))
    .flatMap(({ id, examples }) =>
      listOf(examples)
        .filter((each) => typeof each === 'string')
        .filter((text) => !/\{\w+\}/.test(text))
        .map((text, index) => ({ skillId: String(id), text, index })),
    )
    .toSorted((a, b) => a.index - b.index)
    .slice(0, maxExamples)
    .map(({ skillId, text }) => ({ skillId, text }));
}

/** An example and the response of the agent. */
export interface ExampleResponse {
  readonly example: SkillExample;
  readonly response: DecodedResponse;
}

/** Sends the examples of the skills once, and learns which outcomes they lead to. */
export class ExampleResponses {
  readonly #examples: readonly SkillExample[];
  #responses: Promise<ExampleResponse[]> | undefined;

  constructor(examples: readonly SkillExample[]) {
    this.#examples = examples;
  }

  /** Returns the responses to all examples. Only the first call sends them. */
  load(probe: Probe): Promise<readonly ExampleResponse[]> {
    return (this.#responses ??= this.#sendAll(probe));
  }

  async #sendAll(probe: Probe): Promise<ExampleResponse[]> {
    const responses: ExampleResponse[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let example = this.#examples[next++]; example; example = this.#examples[next++])
        responses.push({ example, response: await sendExample(probe, example.text) });
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return responses.toSorted(
      (a, b) => this.#examples.indexOf(a.example) - this.#examples.indexOf(b.example),
    );
  }
}

async function sendExample(probe: Probe, text: string): Promise<DecodedResponse> {
  const response = await probe.call('send', { message: { text, messageId: crypto.randomUUID() } });
  if (probe.decodeSendResult(response))
    probe.prompts.learn({ text }, probe.driver.decodeTask(response.result));
  return response;
}
