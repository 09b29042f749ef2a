import { describe, expect, it } from 'vitest';
import { Backlog } from './decode-queue.ts';
import { HttpTrip } from './http-exchange-recorder.ts';
import { Recorder } from './traffic-recorder.ts';
import { Tape } from '../traffic-log.ts';

describe('what waits to be looked at', () => {
  it('is looked at in order, after the traffic, and one that fails stops nothing', async () => {
    const backlog = Backlog.of(new Tape());
    const seen: number[] = [];
    for (let i = 0; i < 5; i++)
      backlog.add(1, () => {
        if (i === 2) throw new Error('no');
        seen.push(i);
      });
    expect(seen).toEqual([]);
    await new Promise<void>((resolve) => backlog.add(0, resolve));
    expect(seen).toEqual([0, 1, 3, 4]);
  });

  it('keeps heads only where too much of it waits, and nothing beyond that', () => {
    const tape = new Tape();
    const recorder = new Recorder(tape);
    const parties = { from: 'a', to: () => 'b' };
    const head = { method: 'POST', url: 'http://x.test/', headers: {} };
    const large = 'x'.repeat(65 * 1_024 * 1_024);
    const trips = [large, 'small'].map((body) => new HttpTrip(recorder, parties, head, body));
    expect(trips).toHaveLength(2);
    expect(Backlog.of(tape).isFull).toBe(true);
    for (let i = 0; i < 60_000; i++) Backlog.of(tape).add(0, () => {});
    let isLost = true;
    Backlog.of(tape).add(0, () => {
      isLost = false;
    });
    Backlog.of(tape).drain();
    expect(isLost).toBe(true);
    const [first, second] = tape.after();
    expect(first).toMatchObject({ text: 'x'.repeat(256 * 1_024), cut: large.length - 256 * 1_024 });
    expect(second).toMatchObject({ text: '', cut: 5 });
    expect(Backlog.of(tape).isFull).toBe(false);
  });
});
