import { expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '../../protocol/event.ts';
import { textOf } from '../../protocol/part.ts';
import type { TaskState } from '../../protocol/task.ts';
import { TextBatcher } from './text-batcher.ts';

const ids = { taskId: 't', contextId: 'c' };
const status = (text: string, state: TaskState = 'working'): TaskStatusUpdateEvent => ({
  kind: 'status',
  ...ids,
  status: { state, message: { messageId: text, role: 'agent', parts: [{ text }] } },
});
const chunk = (
  artifactId: string,
  text: string,
  append: boolean,
  lastChunk = false,
): TaskArtifactUpdateEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId, parts: [{ text }] },
  append,
  lastChunk,
});

function batching(characters = 100) {
  const sent: string[] = [];
  const clock = new ManualClock();
  const batch = new TextBatcher({ milliseconds: 50, characters }, clock, (update) => {
    const parts = update.kind === 'artifact' ? update.artifact.parts : (update.status.message?.parts ?? []);
    sent.push(textOf(parts));
  });
  return { sent, clock, batch };
}

it('sends words together after a while', () => {
  const { sent, clock, batch } = batching();
  for (const word of ['a', 'b', 'c']) batch.push(status(word));
  expect(sent).toEqual([]);
  clock.advance(50);
  expect(sent).toEqual(['abc']);
  expect(clock.pending).toBe(0);
});

it('sends words together when they are enough', () => {
  const { sent, batch } = batching(3);
  for (const word of ['ab', 'cd', 'e']) batch.push(status(word));
  expect(sent).toEqual(['abcd']);
});

it('keeps the order, and parts what speaks of different things', () => {
  const { sent, batch } = batching();
  batch.push(status('a'));
  batch.push(chunk('x', 'b', false));
  batch.push(chunk('x', 'c', true));
  batch.push(chunk('y', 'd', false));
  batch.push(status('e', 'submitted'));
  batch.push(status('end', 'completed'));
  expect(sent).toEqual(['a', 'bc', 'd', 'e', 'end']);
});
