import {
  artifact,
  defineAgent,
  type LocalAgent,
  type AgentOutput,
  type ProcessContext,
} from '../../../src/engine/index.ts';
import { schemasExtension } from '../../../src/bridge/index.ts';
import { rawPart } from '../../../src/protocol/part.ts';
import type { AgentCard, AgentSkill } from '../../../src/protocol/card.ts';

/** A small picture. */
export const smallImage = rawPart(new Uint8Array(600).fill(7), {
  filename: 'dot.png',
  mediaType: 'image/png',
});

/** A large file: more than what is given as bytes. */
export const largeFile = rawPart(new Uint8Array(400_000).fill(9), {
  filename: 'large.bin',
  mediaType: 'application/octet-stream',
});

/** An agent for tests of MCP, and what it has seen. */
export interface McpDemoAgent {
  agent: LocalAgent;
  /** Waits for the next task that is canceled and gives its id. */
  canceled(): Promise<string>;
  /** Lets one `wait` go on, now or when it comes. */
  proceed(): void;
  /** Contexts in which it was called. */
  contexts: string[];
  /** Adds a skill to the card. */
  learn(skill: AgentSkill): void;
}

/** Makes the agent: it does what its text says. */
export function createMcpDemoAgent(): McpDemoAgent {
  const ends = new Doorway<string>();
  const goes = new Doorway<void>();
  const contexts: string[] = [];
  async function* work(context: ProcessContext): AsyncGenerator<AgentOutput> {
    const { text, signal } = context;
    contexts.push(context.contextId);
    switch (text) {
      case 'ask': {
        const answer = await context.ask('Which colour?');
        yield `It is ${(answer.parts[0] as { text: string }).text}.`;
        return;
      }
      case 'ask twice': {
        const first = await context.ask('First?');
        const second = await context.ask('Second?');
        yield [first, second].map(({ parts }) => (parts[0] as { text: string }).text).join(' and ');
        return;
      }
      case 'slow':
        yield { state: 'working', message: 'begun' };
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        ends.pass(context.taskId);
        return;
      case 'wait':
        yield { state: 'working', message: 'waiting' };
        await goes.next();
        yield 'waited';
        return;
      case 'fail':
        yield { state: 'failed', message: 'The oven is cold.' };
        return;
      case 'reject':
        yield { state: 'rejected', message: 'Not on Sundays.' };
        return;
      case 'auth':
        await context.askForAuth('Sign in first.');
        return;
      case 'files':
        yield artifact([{ text: 'Here they are.' }, smallImage, largeFile], { name: 'files' });
        yield artifact([{ text: '' }, { url: 'https://example.com/a.txt', filename: 'a.txt' }], {
          name: 'link',
        });
        return;
      default:
        if (context.message.metadata?.skillId === 'weigh')
          yield artifact([{ data: { grams: text.includes('lie') ? 'heavy' : 12 } }], { name: 'weight' });
        else yield `You said: ${text}`;
    }
  }
  const agent = defineAgent({
    name: 'Demo',
    description: 'For tests',
    skills: [
      { id: 'do', name: 'Do', description: 'Does what it is told', examples: ['wait'], tags: [] },
      { id: 'weigh', name: 'Weigh', description: 'Weighs a thing', tags: [] },
      { id: 'odd name/ö', name: 'Odd', description: 'Has an odd id', tags: [] },
    ],
    extensions: [
      {
        uri: schemasExtension,
        params: {
          skills: {
            weigh: {
              input_schema: {
                type: 'object',
                properties: { thing: { type: 'string' }, times: { type: 'integer' } },
                required: ['thing'],
                additionalProperties: false,
              },
              output_schema: {
                $id: 'https://example.com/weight',
                type: 'object',
                properties: { grams: { $ref: '#/$defs/amount' } },
                required: ['grams'],
                $defs: { amount: { type: 'number' } },
              },
            },
          },
        },
      },
    ],
    defaultInputModes: ['text/plain', '*/*'],
    process: work,
  });
  const learned: AgentSkill[] = [];
  const card = agent.card.bind(agent);
  Object.assign(agent, {
    card: async (): Promise<AgentCard> => {
      const plain = await card();
      return { ...plain, skills: [...plain.skills, ...learned] };
    },
  });
  return {
    agent,
    contexts,
    canceled: () => ends.next(),
    proceed: () => goes.pass(),
    learn: (skill) => learned.push(skill),
  };
}

/** What passes is kept for whoever comes for it next. */
class Doorway<T> {
  readonly #passed: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];

  pass(value: T): void {
    const first = this.#waiting.shift();
    if (first) first(value);
    else this.#passed.push(value);
  }

  next(): Promise<T> {
    if (this.#passed.length > 0) return Promise.resolve(this.#passed.shift() as T);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
