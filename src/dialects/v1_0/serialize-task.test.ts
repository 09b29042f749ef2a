import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { message, task } from '../../../test/arbitraries.ts';
import { results } from './results.ts';
import { serializeSendResult, serializeTask } from './serialize-task.ts';

it('serializeTask equals JSON.stringify of the wire task', () => {
  fc.assert(
    fc.property(task, (each) => {
      expect(serializeTask(each)).toBe(JSON.stringify(results.getTask.write(each)));
    }),
    { numRuns: 1_000 },
  );
});

it('serializeTask equals JSON.stringify for plain text with ids in messages', () => {
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

it('serializeSendResult equals JSON.stringify of the wire result', () => {
  fc.assert(
    fc.property(fc.oneof(task, message), (each) => {
      expect(serializeSendResult(each)).toBe(JSON.stringify(results.send.write(each)));
    }),
    { numRuns: 500 },
  );
});
