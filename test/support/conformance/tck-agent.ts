import { randomUUID } from 'node:crypto';
import type { ProcessContext } from '../../../src/engine/process-context.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import { chunk, type AgentOutput, status } from '../../../src/engine/agent-output.ts';

/** An agent for the official A2A TCK; the prefix of the message id selects its behavior. */
export function tckAgent(): LocalAgent {
  return defineAgent({
    name: 'TCK agent',
    description: 'Behavior depends on the message id',
    skills: [{ id: 'kit', name: 'Kit', description: 'Behavior depends on the message id', tags: ['test'] }],
    defaultInputModes: ['text/plain', 'application/json'],
    allowDirectReply: true,
    process: respond,
  });
}

async function* respond(context: ProcessContext): AsyncGenerator<AgentOutput, void, undefined> {
  const { messageId } = context.message;
  const hasPrefix = (prefix: string): boolean => messageId.startsWith(prefix);
  if (hasPrefix('tck-message-response')) {
    yield { messageId: randomUUID(), role: 'agent', parts: [{ text: 'Direct message response' }] };
    return;
  }
  if (hasPrefix('tck-input-required')) {
    await context.ask('Which one?');
    yield status('completed', 'Hello from TCK');
  } else if (hasPrefix('tck-auth-required')) {
    await context.askForAuth('Please log in');
    yield status('completed', 'Hello from TCK');
  } else if (hasPrefix('tck-reject-task')) yield status('rejected', 'No');
  else if (hasPrefix('test-resubscribe-message-id')) {
    yield status('working', 'Going on');
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 4_000);
      context.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    });
    yield status('completed', 'Done after delay');
  } else if (hasPrefix('tck-stream-artifact-chunked')) {
    const id = randomUUID();
    yield status('working', 'Going on');
    yield chunk(id, [{ text: 'chunk-1' }], { append: false, lastChunk: false });
    yield chunk(id, [{ text: 'chunk-2' }], { append: true, lastChunk: true });
  } else if (hasPrefix('tck-artifact-text'))
    yield chunk(randomUUID(), [{ text: 'Generated text content' }], { append: false, lastChunk: true });
  else yield status('completed', 'Hello from TCK');
}
