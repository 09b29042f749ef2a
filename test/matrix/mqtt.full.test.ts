import { expect, it } from 'vitest';
import { mosquitto, startMosquitto } from '../support/mesh/broker.ts';
import { listCells, describeMatrix } from './matrix.ts';

it('has a cell for each client, upstream and scenario', () => {
  expect(listCells(['mesh'])).toHaveLength(3 * 3 * 7);
});

if (mosquitto !== undefined)
  describeMatrix('gateway matrix over MQTT', listCells(['mesh']), () => startMosquitto());
