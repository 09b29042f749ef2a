import { expect, it } from 'vitest';
import { cellsOf, describeMatrix } from './matrix.ts';

it('has a cell for each caller, downstream and doing', () => {
  expect(cellsOf(['mesh'])).toHaveLength(3 * 3 * 7);
});

describeMatrix('a mesh within the process', ['mesh'], async () => ({
  url: 'memory:matrix',
  remove: async () => {},
}));
