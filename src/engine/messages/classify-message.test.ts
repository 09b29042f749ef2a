import { expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import { memoryTaskStore } from '../../store/memory-task-store.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { classifyRejected } from './classify-message.ts';

const message = (text: string): Message => ({
  messageId: crypto.randomUUID(),
  role: 'user',
  parts: [{ text }],
});

it.each([
  ['the same text', 'ask', 'duplicate'],
  ['another text', 'an answer', 'continuation'],
])(
  'classifies a 0.1 message with %s as that of a task that was created meanwhile',
  async (_what, text, kind) => {
    const memory = memoryTaskStore();
    const status = { state: 'submitted' as const };
    const log = await memory.create('ann', { id: 't', contextId: 'c', status, history: [message('ask')] });
    log.append({ kind: 'status', taskId: 't', contextId: 'c', status: { state: 'input-required' } });
    const taskStore = {
      rejectsKnownMessages: true,
      open: (owner: string, id: string) => memory.open(owner, id),
    } as TaskStore;
    const rejection = new A2AError('CONFLICT', 'The task exists', { details: { taskId: 't' } });
    const request = { message: message(text), clientTaskId: 't' };
    const found = await classifyRejected(rejection, taskStore, 'ann', request, { isMarked: true });
    expect(found.kind).toBe(kind);
  },
);
