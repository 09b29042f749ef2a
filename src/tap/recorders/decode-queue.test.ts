import { describe, expect, it } from 'vitest';
import { DecodeQueue } from './decode-queue.ts';
import { HttpExchangeRecorder } from './http-exchange-recorder.ts';
import { TrafficRecorder } from './traffic-recorder.ts';
import { TrafficLog } from '../traffic-log.ts';

describe('DecodeQueue', () => {
  it('runs queued work in order and survives failing work', async () => {
    const queue = DecodeQueue.of(new TrafficLog());
    const done: number[] = [];
    for (let i = 0; i < 5; i++)
      queue.add(1, () => {
        if (i === 2) throw new Error('no');
        done.push(i);
      });
    expect(done).toEqual([]);
    await new Promise<void>((resolve) => queue.add(0, resolve));
    expect(done).toEqual([0, 1, 3, 4]);
  });

  it('drops bodies when it is full and work beyond the maximum length', () => {
    const log = new TrafficLog();
    const recorder = new TrafficRecorder(log);
    const participants = { from: 'a', to: () => 'b' };
    const head = { method: 'POST', url: 'http://x.test/', headers: {} };
    const large = 'x'.repeat(65 * 1_024 * 1_024);
    const exchanges = [large, 'small'].map(
      (body) => new HttpExchangeRecorder(recorder, participants, head, body),
    );
    expect(exchanges).toHaveLength(2);
    expect(DecodeQueue.of(log).isFull).toBe(true);
    for (let i = 0; i < 60_000; i++) DecodeQueue.of(log).add(0, () => {});
    let isDropped = true;
    DecodeQueue.of(log).add(0, () => {
      isDropped = false;
    });
    DecodeQueue.of(log).drain();
    expect(isDropped).toBe(true);
    const [first, second] = log.recordsAfter();
    expect(first).toMatchObject({ text: 'x'.repeat(256 * 1_024), truncatedBy: large.length - 256 * 1_024 });
    expect(second).toMatchObject({ text: '', truncatedBy: 5 });
    expect(DecodeQueue.of(log).isFull).toBe(false);
  });
});
