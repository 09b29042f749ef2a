import { expect, it } from 'vitest';
import { userRequest } from '../../test/support/engine/conversation.ts';
import type { LogEntry } from '../primitives/log.ts';
import { memoryTaskStore } from '../store/memory-task-store.ts';
import { defineAgent } from './local-agent.ts';

it('logs that the task store evicts tasks, less often the more there are', async () => {
  const logged: LogEntry[] = [];
  const agent = defineAgent(
    { name: 'T', description: 'T', process: ({ text }) => text },
    { taskStore: memoryTaskStore({ maxTasks: 2 }), log: (entry) => void logged.push(entry) },
  );
  for (let count = 0; count < 25; count++) await agent.send(userRequest('hi'));
  expect(logged.map(({ message, fields }) => [message, fields?.count])).toEqual([
    ['The task store is full: it evicts finished tasks', 1],
    ['The task store is full: it evicts finished tasks', 10],
  ]);
  await agent.close();
});
