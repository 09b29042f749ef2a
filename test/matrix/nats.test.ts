import { expect, it } from 'vitest';
import { natsServer, startNats } from '../support/mesh/broker.ts';
import { cellsOf, describeMatrix } from './matrix.ts';

it('has a cell for each caller, downstream and doing', () => {
  expect(cellsOf(['mesh'])).toHaveLength(3 * 3 * 7);
});

if (natsServer !== undefined) describeMatrix('a mesh on NATS', ['mesh'], () => startNats());
