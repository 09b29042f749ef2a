import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { ProgressNotes } from './progress-notes.ts';

describe('notes of progress', () => {
  it('come at once first, then the newest of each while, and what waits comes at the end', () => {
    const clock = new ManualClock();
    const sent: string[] = [];
    const notes = new ProgressNotes((text) => sent.push(text), clock, 250);
    notes.tell('a');
    notes.tell('b');
    notes.tell('c');
    expect(sent).toEqual(['a']);
    clock.advance(250);
    expect(sent).toEqual(['a', 'c']);
    clock.advance(250);
    notes.tell('d');
    expect(sent).toEqual(['a', 'c', 'd']);
    notes.tell('e');
    notes.end();
    expect(sent).toEqual(['a', 'c', 'd', 'e']);
    expect(clock.pending).toBe(0);
  });
});
