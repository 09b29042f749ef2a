import { randomUUID } from 'node:crypto';
import type { ProcessContext } from '../../../engine/process-context.ts';
import type { AgentDefinition, AgentOptions } from '../../../engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { chunk, type AgentOutput, status } from '../../../engine/agent-output.ts';

/** How the agent of the fixtures is made. */
export interface FixtureOptions extends AgentOptions {
  readonly definition?: Partial<AgentDefinition>;
  /** How long a step of `fx:slow` takes, in milliseconds. @defaultValue 400 */
  readonly step?: number;
}

/**
 * A correct agent that obeys the texts of the fixtures: `fx:complete`, `fx:slow`, `fx:chunks`, `fx:input`, `fx:auth`,
 * `fx:message`, `fx:fail`, `fx:reject` and `fx:echo`.
 */
export function fixtureAgent({ definition, step = 400, ...options }: FixtureOptions = {}): LocalAgent {
  return defineAgent(
    {
      name: 'Fixtures',
      description: 'Does what a text of the fixtures says',
      version: '1.2.3',
      skills: [
        {
          id: 'fixtures',
          name: 'Fixtures',
          description: 'Leads a task wherever a check wants it',
          tags: ['test'],
          examples: ['fx:complete'],
        },
      ],
      defaultInputModes: ['text/plain', 'application/json'],
      allowDirectReply: true,
      pushNotifications: true,
      process: (context) => play(context, step),
      ...definition,
    },
    options,
  );
}

async function* play(context: ProcessContext, step: number): AsyncGenerator<AgentOutput, void, undefined> {
  const { text, signal } = context;
  const [, word = 'complete'] = /fx:(\w+)/.exec(text) ?? [];
  const pause = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, step);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
  switch (word) {
    case 'message':
      yield { messageId: randomUUID(), role: 'agent', parts: [{ text: 'A direct answer' }] };
      return;
    case 'slow':
      for (let i = 1; i <= 8; i++) {
        yield status('working', `Step ${i} of 8`);
        await pause();
      }
      break;
    case 'chunks': {
      const artifactId = randomUUID();
      for (let i = 1; i <= 6; i++)
        yield chunk(artifactId, [{ text: `chunk ${i};` }], {
          append: i > 1,
          lastChunk: i === 6,
          name: 'chunks.txt',
        });
      return;
    }
    case 'input':
      yield status('working', 'Thinking of a question');
      await context.ask('Which one?');
      break;
    case 'auth':
      await context.askForAuth('Please log in');
      break;
    case 'fail':
      yield status('failed', 'It went wrong as it should');
      return;
    case 'reject':
      yield status('rejected', 'It is refused as it should be');
      return;
    case 'echo':
      yield chunk(randomUUID(), context.message.parts, { name: 'echo', append: false, lastChunk: true });
      return;
  }
  yield chunk(randomUUID(), [{ text: `Done: ${text}` }], {
    name: 'result.txt',
    append: false,
    lastChunk: true,
  });
}
