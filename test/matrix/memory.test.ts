import { expect, it } from 'vitest';
import { listCells, describeMatrix } from './matrix.ts';

it('has a cell for each client, upstream and scenario', () => {
  expect(listCells(['mesh'])).toHaveLength(3 * 3 * 7);
});

describeMatrix('gateway matrix over an in-memory mesh', listCells(['mesh']), async () => ({
  url: 'memory:matrix',
  remove: async () => {},
}));
