import { expect, it } from 'vitest';
import { listCells, describeMatrix } from './matrix.ts';

it('has a cell for each client, transport, upstream and scenario, except REST in 0.1', () => {
  expect(listCells(['JSONRPC'])).toHaveLength(3 * 3 * 7);
  expect(listCells(['REST'])).toHaveLength(2 * 3 * 7);
});

describeMatrix('gateway matrix over HTTP', listCells(['JSONRPC', 'REST']));
