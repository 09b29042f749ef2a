import { describe, expect, it } from 'vitest';
import type { TaskState } from '../protocol/task.ts';
import { OwnerTasks, type TaskRecord } from './owner-tasks.ts';
import { PageTokens } from './page-tokens.ts';

const tokens = new PageTokens();

let touched = 0;

function addTask(
  ownerTasks: OwnerTasks,
  id: string,
  contextId: string,
  state: TaskState = 'working',
): TaskRecord {
  const record: TaskRecord = {
    touched: ++touched,
    ownerTasks,
    id,
    contextId,
    siblings: undefined,
    state,
    changedAt: 0,
    log: undefined,
    task: { id, contextId, status: { state } },
    sequence: 1,
    bytes: 0,
    isDeleted: false,
    messageId: `message of ${id}`,
    configs: undefined,
    isHeld: false,
  };
  ownerTasks.tasks.set(id, record);
  ownerTasks.byMessage.set(`message of ${id}`, id);
  ownerTasks.add(record);
  return record;
}

function touch(record: TaskRecord): void {
  record.ownerTasks.removeFromIndexes(record);
  record.touched = ++touched;
  record.ownerTasks.addToIndexes(record);
}

const listIds = (ownerTasks: OwnerTasks, contextId?: string): string[] =>
  ownerTasks.list({ contextId }, tokens).tasks.map(({ id }) => id);

describe('OwnerTasks', () => {
  it('lists the tasks of a context with one or more tasks', () => {
    const ownerTasks = new OwnerTasks('ann');
    const a = addTask(ownerTasks, 'a', 'c');
    expect(listIds(ownerTasks, 'c')).toEqual(['a']);
    touch(a);
    expect(listIds(ownerTasks, 'c')).toEqual(['a']);
    addTask(ownerTasks, 'b', 'c');
    addTask(ownerTasks, 'other', 'd');
    expect(listIds(ownerTasks, 'c')).toEqual(['b', 'a']);
    touch(a);
    expect(listIds(ownerTasks, 'c')).toEqual(['a', 'b']);
    expect(ownerTasks.list({ contextId: 'c' }, tokens).totalSize).toBe(2);
  });

  it('deletes a task together with its message and context entries', () => {
    const ownerTasks = new OwnerTasks('ann');
    const [a, b, c] = [
      addTask(ownerTasks, 'a', 'c'),
      addTask(ownerTasks, 'b', 'c'),
      addTask(ownerTasks, 'c', 'alone'),
    ];
    for (const record of [a, c]) ownerTasks.delete(record);
    expect(listIds(ownerTasks)).toEqual(['b']);
    expect(listIds(ownerTasks, 'c')).toEqual(['b']);
    expect(listIds(ownerTasks, 'alone')).toEqual([]);
    expect([...ownerTasks.byMessage.keys()]).toEqual(['message of b']);
    ownerTasks.delete(b);
    expect(ownerTasks.list({ contextId: 'c' }, tokens)).toMatchObject({ tasks: [], totalSize: 0 });
    expect(ownerTasks.list({ status: 'working' }, tokens).totalSize).toBe(0);
  });

  it('keeps a message id that belongs to another task by now', () => {
    const ownerTasks = new OwnerTasks('ann');
    const a = addTask(ownerTasks, 'a', 'c');
    ownerTasks.byMessage.set('message of a', 'b');
    ownerTasks.delete(a);
    expect(ownerTasks.byMessage.get('message of a')).toBe('b');
  });
});
