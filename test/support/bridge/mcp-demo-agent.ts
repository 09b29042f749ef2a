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

/** An image of 600 bytes. */
export const smallImage = rawPart(new Uint8Array(600).fill(7), {
  filename: 'dot.png',
  mediaType: 'image/png',
});

/** A file of 400 kB, which is larger than the limit for inline content. */
export const largeFile = rawPart(new Uint8Array(400_000).fill(9), {
  filename: 'large.bin',
  mediaType: 'application/octet-stream',
});

/** An agent for MCP tests, with controls for its tasks. */
export interface McpDemoAgent {
  agent: LocalAgent;
  /** Returns the id of the next canceled `slow` task. */
  nextCanceledTask(): Promise<string>;
  /** Completes one `wait` task, either a current or a future one. */
  releaseWait(): void;
  /** Context ids of all calls. */
  contexts: string[];
  /** Adds a skill to the card. */
  addSkill(skill: AgentSkill): void;
}

/** Creates the agent; the text of a message selects its behavior. */
export function createMcpDemoAgent(): McpDemoAgent {
  const canceledTasks = new AsyncQueue<string>();
  const releases = new AsyncQueue<void>();
  const contexts: string[] = [];
  async function* work(context: ProcessContext): AsyncGenerator<AgentOutput> {
    const { text, signal } = context;
    contexts.push(context.contextId);
    switch (text) {
      case 'ask': {
        const reply = await context.ask('Which color?');
        yield `It is ${(reply.parts[0] as { text: string }).text}.`;
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
        canceledTasks.push(context.taskId);
        return;
      case 'wait':
        yield { state: 'working', message: 'waiting' };
        await releases.next();
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
      { id: 'do', name: 'Do', description: 'Does what the text says', examples: ['wait'], tags: [] },
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
  const addedSkills: AgentSkill[] = [];
  const card = agent.card.bind(agent);
  Object.assign(agent, {
    card: async (): Promise<AgentCard> => {
      const plain = await card();
      return { ...plain, skills: [...plain.skills, ...addedSkills] };
    },
  });
  return {
    agent,
    contexts,
    nextCanceledTask: () => canceledTasks.next(),
    releaseWait: () => releases.push(),
    addSkill: (skill) => addedSkills.push(skill),
  };
}

/** An unbounded FIFO queue with asynchronous reads. */
class AsyncQueue<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((value: T) => void)[] = [];

  push(value: T): void {
    const first = this.#waiting.shift();
    if (first) first(value);
    else this.#items.push(value);
  }

  next(): Promise<T> {
    if (this.#items.length > 0) return Promise.resolve(this.#items.shift() as T);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
