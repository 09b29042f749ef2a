import { describe, expect, it } from 'vitest';
import type { TaskState } from '../protocol/task.ts';
import { OwnerTasks, type TaskRecord } from './owner-tasks.ts';

let touched = 0;

function shelve(shelf: OwnerTasks, id: string, contextId: string, state: TaskState = 'working'): TaskRecord {
  const shelved: TaskRecord = {
    touched: ++touched,
    shelf,
    id,
    contextId,
    siblings: undefined,
    state,
    changedAt: 0,
    log: undefined,
    task: { id, contextId, status: { state } },
    sequence: 1,
    messageId: `message of ${id}`,
    configs: undefined,
  };
  shelf.tasks.set(id, shelved);
  shelf.byMessage.set(`message of ${id}`, id);
  shelf.add(shelved);
  return shelved;
}

function move(shelved: TaskRecord): void {
  shelved.shelf.displace(shelved);
  shelved.touched = ++touched;
  shelved.shelf.place(shelved);
}

const idsOf = (shelf: OwnerTasks, contextId?: string): string[] =>
  shelf.list({ contextId }).tasks.map(({ id }) => id);

describe('Shelf', () => {
  it('lists the tasks of a context, be it one or many', () => {
    const shelf = new OwnerTasks('ann');
    const a = shelve(shelf, 'a', 'c');
    expect(idsOf(shelf, 'c')).toEqual(['a']);
    move(a);
    expect(idsOf(shelf, 'c')).toEqual(['a']);
    shelve(shelf, 'b', 'c');
    shelve(shelf, 'other', 'd');
    expect(idsOf(shelf, 'c')).toEqual(['b', 'a']);
    move(a);
    expect(idsOf(shelf, 'c')).toEqual(['a', 'b']);
    expect(shelf.list({ contextId: 'c' }).totalSize).toBe(2);
  });

  it('forgets a task with its message and its context', () => {
    const shelf = new OwnerTasks('ann');
    const [a, b, c] = [shelve(shelf, 'a', 'c'), shelve(shelf, 'b', 'c'), shelve(shelf, 'c', 'alone')];
    for (const shelved of [a, c]) shelf.forget(shelved);
    expect(idsOf(shelf)).toEqual(['b']);
    expect(idsOf(shelf, 'c')).toEqual(['b']);
    expect(idsOf(shelf, 'alone')).toEqual([]);
    expect([...shelf.byMessage.keys()]).toEqual(['message of b']);
    shelf.forget(b);
    expect(shelf.list({ contextId: 'c' })).toMatchObject({ tasks: [], totalSize: 0 });
    expect(shelf.list({ status: 'working' }).totalSize).toBe(0);
  });

  it('leaves a message to the task that has it now', () => {
    const shelf = new OwnerTasks('ann');
    const a = shelve(shelf, 'a', 'c');
    shelf.byMessage.set('message of a', 'b');
    shelf.forget(a);
    expect(shelf.byMessage.get('message of a')).toBe('b');
  });
});
