import { createSeededRandom } from '../../seeded-random.ts';
import type { TemplateScope } from './template-scope.ts';

/** Returns a sample scope with which templates are evaluated at compile time. */
export function sampleScope(): TemplateScope {
  const message = { messageId: 'sample', role: 'user' as const, parts: [{ text: 'sample' }] };
  return {
    received: {
      operation: 'send',
      message,
      text: 'sample',
      metadata: undefined,
      skill: undefined,
      version: undefined,
      transport: undefined,
      headers: {},
      principal: undefined,
      task: undefined,
      contextId: undefined,
      turn: 0,
    },
    playback: { taskId: 'sample', contextId: 'sample', now: 0 },
    state: new Map(),
    match: undefined,
    random: createSeededRandom(0),
    maxLength: 10_000,
  };
}
