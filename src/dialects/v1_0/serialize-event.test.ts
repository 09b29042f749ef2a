import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { event } from '../../../test/arbitraries.ts';
import { serializeEvent } from './serialize-event.ts';
import { writeEvent } from './event.ts';

it('serializeEvent equals JSON.stringify of the wire event', () => {
  fc.assert(
    fc.property(event, (each) => {
      expect(serializeEvent(each)).toBe(JSON.stringify(writeEvent(each)));
    }),
    { numRuns: 1_000 },
  );
});
