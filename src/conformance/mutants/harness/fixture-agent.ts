import { randomUUID } from 'node:crypto';
import type { ProcessContext } from '../../../engine/process-context.ts';
import type { AgentDefinition, AgentOptions } from '../../../engine/agent-definition.ts';
import { defineAgent, type LocalAgent } from '../../../engine/local-agent.ts';
import { chunk, type AgentOutput, status } from '../../../engine/agent-output.ts';

/** Options of {@link fixtureAgent}. */
export interface FixtureOptions extends AgentOptions {
  readonly definition?: Partial<AgentDefinition>;
  /** Duration of one step of `fx:slow`, in milliseconds. @defaultValue 400 */
  readonly step?: number;
}

/**
 * Creates a correct agent that is controlled by message texts: `fx:complete`, `fx:slow`, `fx:chunks`, `fx:input`, `fx:auth`,
 * `fx:message`, `fx:fail`, `fx:reject` and `fx:echo`.
 */
export function fixtureAgent({ definition, step = 400, ...options }: FixtureOptions = {}): LocalAgent {
  return defineAgent(
    {
      name: 'Fixtures',
      description: 'Test agent that is controlled by fx: texts',
      version: '1.2.3',
      skills: [
        {
          id: 'fixtures',
          name: 'Fixtures',
          description: 'Leads a task to the requested state',
          tags: ['test'],
          examples: ['fx:complete'],
        },
      ],
      defaultInputModes: ['text/plain', 'application/json'],
      allowDirectReply: true,
      pushNotifications: true,
      process: (context) => runFixture(context, step),
      ...definition,
    },
    options,
  );
}

async function* runFixture(
  context: ProcessContext,
  step: number,
): AsyncGenerator<AgentOutput, void, undefined> {
  const { text, signal } = context;
  const [, fixture = 'complete'] = /fx:(\w+)/.exec(text) ?? [];
  const delay = (): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, step);
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
  switch (fixture) {
    case 'message':
      yield { messageId: randomUUID(), role: 'agent', parts: [{ text: 'A direct message' }] };
      return;
    case 'slow':
      for (let i = 1; i <= 8; i++) {
        yield status('working', `Step ${i} of 8`);
        await delay();
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
      yield status('working', 'Preparing a question');
      await context.ask('Which one?');
      break;
    case 'auth':
      await context.askForAuth('Please log in');
      break;
    case 'fail':
      yield status('failed', 'Failed as requested');
      return;
    case 'reject':
      yield status('rejected', 'Rejected as requested');
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
