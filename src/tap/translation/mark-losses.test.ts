import { expect, it } from 'vitest';
import { alignJson } from './align-json.ts';
import { markLosses } from './mark-losses.ts';

const lines = alignJson(
  { params: { message: { messageId: 'm1', referenceTaskIds: ['t0'] } } },
  { params: { id: 't1', message: { message_id: 'm1' } } },
);
const loss = (path: string) => ({ path, kind: 'dropped' as const, note: 'has no place' });
const placeOf = (path: string): string | undefined => {
  const [line] = markLosses(lines, [loss(path)]).byLine.keys();
  return line?.left?.path ?? line?.right?.path;
};

it('marks the line with the path of the loss, also below an envelope', () => {
  expect(placeOf('message.referenceTaskIds')).toBe('params.message.referenceTaskIds');
  expect(placeOf('id')).toBe('params.id');
});

it('marks a changed line with the same name if no path is equal', () => {
  expect(placeOf('request.message.reference_task_ids')).toBe('params.message.referenceTaskIds');
});

it('lists losses without a line', () => {
  expect(markLosses(lines, [loss('configuration.blocking')]).others).toEqual([
    loss('configuration.blocking'),
  ]);
});
