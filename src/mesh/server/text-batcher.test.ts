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

function createBatcher(characters = 100) {
  const sent: string[] = [];
  const clock = new ManualClock();
  const batcher = new TextBatcher({ maxDelay: 50, maxCharacters: characters }, clock, (update) => {
    const parts = update.kind === 'artifact' ? update.artifact.parts : (update.status.message?.parts ?? []);
    sent.push(textOf(parts));
  });
  return { sent, clock, batcher };
}

it('sends a batcher after the maximum delay', () => {
  const { sent, clock, batcher } = createBatcher();
  for (const word of ['a', 'b', 'c']) batcher.push(status(word));
  expect(sent).toEqual([]);
  clock.advance(50);
  expect(sent).toEqual(['abc']);
  expect(clock.pending).toBe(0);
});

it('sends a batcher when it has enough characters', () => {
  const { sent, batcher } = createBatcher(3);
  for (const word of ['ab', 'cd', 'e']) batcher.push(status(word));
  expect(sent).toEqual(['abcd']);
});

it('preserves the order and separates different artifacts and states', () => {
  const { sent, batcher } = createBatcher();
  batcher.push(status('a'));
  batcher.push(chunk('x', 'b', false));
  batcher.push(chunk('x', 'c', true));
  batcher.push(chunk('y', 'd', false));
  batcher.push(status('e', 'submitted'));
  batcher.push(status('end', 'completed'));
  expect(sent).toEqual(['a', 'bc', 'd', 'e', 'end']);
});
