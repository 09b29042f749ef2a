import { describe, expect, it } from 'vitest';
import { DecodeQueue } from './decode-queue.ts';
import { HttpExchangeRecorder } from './http-exchange-recorder.ts';
import { TrafficRecorder } from './traffic-recorder.ts';
import { TrafficLog } from '../traffic-log.ts';

describe('what waits to be looked at', () => {
  it('is looked at in order, after the traffic, and one that fails stops nothing', async () => {
    const backlog = DecodeQueue.of(new TrafficLog());
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
    const tape = new TrafficLog();
    const recorder = new TrafficRecorder(tape);
    const parties = { from: 'a', to: () => 'b' };
    const head = { method: 'POST', url: 'http://x.test/', headers: {} };
    const large = 'x'.repeat(65 * 1_024 * 1_024);
    const trips = [large, 'small'].map((body) => new HttpExchangeRecorder(recorder, parties, head, body));
    expect(trips).toHaveLength(2);
    expect(DecodeQueue.of(tape).isFull).toBe(true);
    for (let i = 0; i < 60_000; i++) DecodeQueue.of(tape).add(0, () => {});
    let isLost = true;
    DecodeQueue.of(tape).add(0, () => {
      isLost = false;
    });
    DecodeQueue.of(tape).drain();
    expect(isLost).toBe(true);
    const [first, second] = tape.recordsAfter();
    expect(first).toMatchObject({ text: 'x'.repeat(256 * 1_024), truncatedBy: large.length - 256 * 1_024 });
    expect(second).toMatchObject({ text: '', truncatedBy: 5 });
    expect(DecodeQueue.of(tape).isFull).toBe(false);
  });
});
