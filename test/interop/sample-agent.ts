/**
 * Agent of this toolkit for clients of every version. The text selects the response: `stream` returns chunks, `two` returns
 * two artifacts, `ask` requests input once and `ask twice` twice, `auth` requests authentication, `slow` works until it is
 * canceled, `fail` throws, `reject` rejects the task, and all other messages are echoed part by part.
 */
import {
  defineAgent,
  type LocalAgent,
  type AgentOutput,
  type ProcessContext,
} from '../../src/engine/index.ts';
import type { AgentDefinition, AgentOptions } from '../../src/engine/agent-definition.ts';

async function* work(context: ProcessContext): AsyncGenerator<AgentOutput> {
  const { text, message, signal } = context;
  switch (text) {
    case 'stream':
      for (let i = 0; i < 5; i++) {
        yield {
          artifact: { artifactId: 'answer', name: 'answer', text: `${i}` },
          append: i > 0,
          lastChunk: i === 4,
        };
      }
      return;
    case 'two':
      yield { artifact: { artifactId: 'first', text: 'a' }, lastChunk: true };
      yield { artifact: { artifactId: 'second', text: 'b' } };
      yield { artifact: { artifactId: 'second', text: 'c' }, append: true, lastChunk: true };
      return;
    case 'ask': {
      const answer = await context.ask('Which one?');
      yield { artifact: { artifactId: 'answer', parts: answer.parts }, lastChunk: true };
      return;
    }
    case 'ask twice': {
      const first = await context.ask('Which one?');
      const second = await context.ask('Really?');
      yield {
        artifact: { artifactId: 'answer', parts: [...first.parts, ...second.parts] },
        lastChunk: true,
      };
      return;
    }
    case 'auth':
      await context.askForAuth('Sign in first.');
      yield { artifact: { artifactId: 'answer', text: 'signed in' }, lastChunk: true };
      return;
    case 'slow':
      yield { state: 'working', message: 'This takes a while.' };
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return;
    case 'fail':
      throw new Error('the secret of the house');
    case 'reject':
      yield { state: 'rejected', message: 'Not this one.' };
      return;
    default:
      yield { artifact: { artifactId: 'answer', name: 'answer', parts: message.parts }, lastChunk: true };
  }
}

/** Makes the agent. */
export function sampleAgent(more: Partial<AgentDefinition> = {}, options: AgentOptions = {}): LocalAgent {
  return defineAgent(
    {
      name: 'Sample',
      description: 'Does what the word says',
      version: '1.2.3',
      skills: [{ id: 'echo', name: 'Echo', description: 'Says it back', tags: ['test'] }],
      pushNotifications: true,
      extendedCard: { name: 'Sample extended' },
      process: work,
      ...more,
    },
    // The webhooks of these tests are nowhere.
    { push: { egress: { resolve: async () => [] } }, ...options },
  );
}
