import { randomUUID } from 'node:crypto';
import type { ProcessContext } from '../../../src/engine/process-context.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { chunk, type AgentOutput, status } from '../../../src/engine/agent-output.ts';

/** An agent that does what the beginning of a message id says, as agents for the official kit do. */
export function tckAgent(): LocalAgent {
  return defineAgent({
    name: 'Kit',
    description: 'Obeys message ids',
    skills: [{ id: 'kit', name: 'Kit', description: 'Obeys message ids', tags: ['test'] }],
    defaultInputModes: ['text/plain', 'application/json'],
    allowDirectReply: true,
    process: obey,
  });
}

async function* obey(context: ProcessContext): AsyncGenerator<AgentOutput, void, undefined> {
  const { messageId } = context.message;
  const begins = (prefix: string): boolean => messageId.startsWith(prefix);
  if (begins('tck-message-response')) {
    yield { messageId: randomUUID(), role: 'agent', parts: [{ text: 'Direct message response' }] };
    return;
  }
  if (begins('tck-input-required')) {
    await context.ask('Which one?');
    yield status('completed', 'Hello from TCK');
  } else if (begins('tck-auth-required')) {
    await context.askForAuth('Please log in');
    yield status('completed', 'Hello from TCK');
  } else if (begins('tck-reject-task')) yield status('rejected', 'No');
  else if (begins('test-resubscribe-message-id')) {
    yield status('working', 'Going on');
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 4_000);
      context.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    yield status('completed', 'Done after delay');
  } else if (begins('tck-stream-artifact-chunked')) {
    const id = randomUUID();
    yield status('working', 'Going on');
    yield chunk(id, [{ text: 'chunk-1' }], { append: false, lastChunk: false });
    yield chunk(id, [{ text: 'chunk-2' }], { append: true, lastChunk: true });
  } else if (begins('tck-artifact-text'))
    yield chunk(randomUUID(), [{ text: 'Generated text content' }], { append: false, lastChunk: true });
  else yield status('completed', 'Hello from TCK');
}
