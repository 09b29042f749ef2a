import { expect, it } from 'vitest';
import { cellsOf, describeMatrix } from './matrix.ts';

it('has a cell for each caller, transport, downstream and doing, but none for REST in 0.1', () => {
  expect(cellsOf(['JSONRPC'])).toHaveLength(3 * 3 * 7);
  expect(cellsOf(['REST'])).toHaveLength(2 * 3 * 7);
});

describeMatrix('HTTP', ['JSONRPC', 'REST']);
