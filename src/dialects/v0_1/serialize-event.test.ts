import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { event } from '../../../test/arbitraries.ts';
import { eventWriter } from './event.ts';

it('v0_1 writer.texts equals JSON.stringify of the wire events', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), (events) => {
      const asWires = eventWriter();
      const asTexts = eventWriter();
      for (const each of events)
        expect(asTexts.texts?.(each)).toEqual(asWires.write(each).map((wire) => JSON.stringify(wire)));
    }),
  );
});
