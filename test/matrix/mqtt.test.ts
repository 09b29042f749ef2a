import { expect, it } from 'vitest';
import { mosquitto, startMosquitto } from '../support/mesh/broker.ts';
import { cellsOf, describeMatrix } from './matrix.ts';

it('has a cell for each caller, downstream and doing', () => {
  expect(cellsOf(['mesh'])).toHaveLength(3 * 3 * 7);
});

if (mosquitto !== undefined) describeMatrix('a mesh on MQTT', ['mesh'], () => startMosquitto());
