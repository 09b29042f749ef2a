import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { event } from '../../../test/arbitraries.ts';
import { eventWriter } from './event.ts';

it('writes as text what its wire forms would be, to the letter', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 6 }), (events) => {
      const asWires = eventWriter();
      const asTexts = eventWriter();
      for (const each of events)
        expect(asTexts.texts?.(each)).toEqual(asWires.write(each).map((wire) => JSON.stringify(wire)));
    }),
  );
});
