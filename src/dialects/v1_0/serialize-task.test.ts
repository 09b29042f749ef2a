import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { message, task } from '../../../test/arbitraries.ts';
import { results } from './results.ts';
import { serializeSendResult, serializeTask } from './serialize-task.ts';

it('is what the wire form of a task would be as text, to the letter', () => {
  fc.assert(
    fc.property(task, (each) => {
      expect(serializeTask(each)).toBe(JSON.stringify(results.getTask.write(each)));
    }),
    { numRuns: 1_000 },
  );
});

it('is what the wire form of a task of plain text would be, whose messages have its ids', () => {
  const ids = { taskId: 't', contextId: 'c "quoted"' };
  const plain = {
    id: ids.taskId,
    contextId: ids.contextId,
    status: { state: 'completed' as const, timestamp: '2026-01-02T03:04:05.678Z' },
    artifacts: [{ artifactId: 'a', name: 'echo', parts: [{ text: 'line\nline' }] }],
    history: [
      { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }], ...ids },
      { messageId: 'n', role: 'agent' as const, parts: [{ text: '' }, { text: 'b' }], ...ids },
    ],
  };
  expect(serializeTask(plain)).toBe(JSON.stringify(results.getTask.write(plain)));
});

it('is what the wire form of an answer would be as text, to the letter', () => {
  fc.assert(
    fc.property(fc.oneof(task, message), (each) => {
      expect(serializeSendResult(each)).toBe(JSON.stringify(results.send.write(each)));
    }),
    { numRuns: 500 },
  );
});
