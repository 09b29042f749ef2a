import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import type { ContractFixture } from '../task-store.ts';
import { chunk, message, newTask, openToChange, owner, status } from './actions.ts';

const generationOf = (event: StreamEvent): number | undefined =>
  event.kind === 'task' ? event.task.generation : event.kind === 'message' ? undefined : event.generation;

export function describeGenerations(fixture: ContractFixture): void {
  describe('generations', () => {
    it('count every change but messages of the user, also after the task is opened again', async () => {
      const { taskStore } = fixture;
      const log = await taskStore.create(owner, newTask('t', { generation: 1 }));
      log.append(status(log, 'working'));
      log.append(chunk(log, 'a', false));
      log.append({ kind: 'input', message: message('m') });
      log.append(chunk(log, 'b'));
      await log.whenPersisted();
      expect(log.task().generation).toBe(4);
      const opened = await openToChange(taskStore, 't');
      expect(opened.task().generation).toBe(4);
      opened.append(status(opened, 'completed'));
      await opened.whenPersisted();
      const seen: (number | undefined)[] = [];
      for await (const event of opened.subscribe(0)) seen.push(generationOf(event));
      expect(seen).toEqual([1, 2, 3, 4, 5]);
      expect((await taskStore.list(owner, {})).tasks).toMatchObject([{ id: 't', generation: 5 }]);
    });

    it('are absent from tasks that began without one', async () => {
      const { taskStore } = fixture;
      const log = await taskStore.create(owner, newTask('t'));
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const seen: StreamEvent[] = [];
      for await (const event of log.subscribe(0)) seen.push(event);
      expect(JSON.stringify([log.task(), seen])).not.toContain('generation');
    });
  });
}
