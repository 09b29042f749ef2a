import { expect, it } from 'vitest';
import { natsServer, startNats } from '../support/mesh/broker.ts';
import { listCells, describeMatrix } from './matrix.ts';

it('has a cell for each client, upstream and scenario', () => {
  expect(listCells(['mesh'])).toHaveLength(3 * 3 * 7);
});

if (natsServer !== undefined)
  describeMatrix('gateway matrix over NATS', listCells(['mesh']), () => startNats());
